import Foundation
import KeelDependencies
import Testing

@Suite("Propagation of overrides")
struct PropagationTests {
    @Test("Task groups and child tasks inherit an override")
    func childrenInherit() async {
        await withDependencies {
            $0.greeter.name = "parent"
        } operation: {
            async let child = Welcome().name
            #expect(await child == "parent")
            let names = await withTaskGroup(of: String.self) { group in
                for _ in 0..<20 {
                    group.addTask { Welcome().name }
                }
                return await group.reduce(into: Set<String>()) { $0.insert($1) }
            }
            #expect(names == ["parent"])
        }
    }

    @Test("An unstructured task inherits an override and outlives it")
    func unstructuredTasksInherit() async {
        let task = withDependencies {
            $0.greeter.name = "starter"
        } operation: {
            Task {
                await Task.yield()
                return Welcome().name
            }
        }
        #expect(await task.value == "starter")
    }

    @Test("A detached task inherits nothing")
    func detachedTasksDoNotInherit() async {
        await withDependencies {
            $0.greeter.name = "starter"
        } operation: {
            let name = await Task.detached { Welcome().name }.value
            #expect(name == "test")
        }
    }

    @Test("A detached task sees the values passed to it")
    func detachedTasksTakeValues() async {
        await withDependencies {
            $0.greeter.name = "starter"
        } operation: {
            let values = DependencyValues.current
            let name = await Task.detached {
                await withDependencies(from: values) {
                    await Task.yield()
                    return Welcome().name
                }
            }.value
            #expect(name == "starter")
        }
    }

    @Test("A detached task sees the values of an object passed to it")
    func detachedTasksTakeObjects() async {
        let welcome = withDependencies {
            $0.greeter.name = "maker"
        } operation: {
            Welcome()
        }
        #expect(await Task.detached { welcome.name }.value == "maker")
    }

    @Test("A thread's override reaches the tasks that it starts")
    func threadsHandOn() async {
        // Like an app's `main`, this thread runs synchronous code outside of any task.
        let name = await withCheckedContinuation { continuation in
            let thread = Thread {
                withDependencies {
                    $0.greeter.name = "thread"
                } operation: {
                    let here = Welcome().name
                    _ = Task { continuation.resume(returning: here + ", " + Welcome().name) }
                }
            }
            thread.start()
        }
        #expect(name == "thread, thread")
    }

    @Test("Concurrent operations do not see each other's values")
    func operationsAreApart() async {
        await withTaskGroup(of: Bool.self) { group in
            for number in 0..<200 {
                group.addTask {
                    await withDependencies {
                        $0.greeter.name = "\(number)"
                    } operation: {
                        for _ in 0..<10 {
                            await Task.yield()
                            guard Welcome().name == "\(number)" else { return false }
                        }
                        return true
                    }
                }
            }
            for await sawItsOwn in group { #expect(sawItsOwn) }
        }
    }

    @Test("Concurrent tests do not see each other's values", arguments: 0..<20)
    func testsAreApart(number: Int) async {
        #expect(Welcome().name == "test")
        await withDependencies {
            $0.greeter.name = "\(number)"
        } operation: {
            for _ in 0..<50 {
                await Task.yield()
                #expect(Welcome().name == "\(number)")
            }
        }
    }
}
