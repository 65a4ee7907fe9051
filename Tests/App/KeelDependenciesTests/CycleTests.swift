import Foundation
import Testing

@testable import KeelDependencies

@Suite("Cyclic dependencies")
struct CycleTests {
    private func node(_ type: Any.Type, _ key: String) -> ValueNeeds.Node {
        ValueNeeds.Node(id: ObjectIdentifier(type), key: key)
    }

    @Test("A dependency that closes a cycle is found, whichever value started it")
    func findsCycles() {
        let (a, b, c) = (node(Int.self, "A"), node(Bool.self, "B"), node(String.self, "C"))
        var needs = ValueNeeds()
        #expect(needs.begin(a, needing: a) == ["A", "A"])
        #expect(needs.begin(a, needing: b) == nil)
        #expect(needs.begin(b, needing: c) == nil)
        #expect(needs.begin(c, needing: a) == ["C", "A", "B", "C"])
        #expect(needs.begin(c, needing: b) == ["C", "B", "C"])
        // An obtained value is no longer needed.
        needs.end(b)
        #expect(needs.begin(c, needing: a) == nil)
    }

    @Test("Values that read each other in sequence are created, whatever the order of readers")
    func readsOthers() async {
        enum First: DependencyKey {
            static var liveValue: Int { DependencyValues.current[Second.self] + 1 }
        }
        enum Second: DependencyKey {
            static var liveValue: Int {
                DependencyValues.current[Third.self] + DependencyValues.current[Third.self]
            }
        }
        enum Third: DependencyKey { static var liveValue: Int { 4 } }
        let sums = await withTaskGroup(of: Int.self) { group in
            for number in 0..<60 {
                group.addTask {
                    withDependencies {
                        $0.context = .live
                    } operation: {
                        switch number % 3 {
                        case 0: DependencyValues.current[First.self]
                        case 1: DependencyValues.current[Second.self] + 1
                        default: DependencyValues.current[Third.self] * 2 + 1
                        }
                    }
                }
            }
            return await group.reduce(into: Set<Int>()) { $0.insert($1) }
        }
        #expect(sums == [9])
    }

    /// A value whose creation starts a task, which reads the next value.
    private enum Beginner: DependencyKey {
        static var liveValue: Task<Int, Never> {
            let task = Task { DependencyValues.current[Follower.self] }
            Follower.began.wait()
            return task
        }
    }

    private enum Follower: DependencyKey {
        static let began = DispatchSemaphore(value: 0)
        static var liveValue: Int {
            began.signal()
            _ = DependencyValues.current[Beginner.self]
            return 2
        }
    }

    @Test("A task started while a value is created may wait for a value that needs the first")
    func tasksOfMakers() async {
        let values = DependencyValues.current.nested { $0.context = .live }
        // On a separate thread, because the value waits for the task that it has started.
        let task = await withCheckedContinuation { continuation in
            Thread {
                withDependencies(from: values) {
                    continuation.resume(returning: values[Beginner.self])
                }
            }.start()
        }
        #expect(await task.value == 2)
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    /// Two values that read each other during creation.
    private enum Left: DependencyKey {
        static let began = DispatchSemaphore(value: 0)
        static var liveValue: Int {
            began.signal()
            Right.began.wait()
            return DependencyValues.current[Right.self]
        }
    }

    private enum Right: DependencyKey {
        static let began = DispatchSemaphore(value: 0)
        static var liveValue: Int {
            began.signal()
            Left.began.wait()
            return DependencyValues.current[Left.self]
        }
    }

    private enum Itself: DependencyKey {
        static var liveValue: Int { DependencyValues.current[Itself.self] }
    }

    @Test("Two threads whose values need each other stop with a message that names both")
    func twoThreads() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                withDependencies {
                    $0.context = .live
                } operation: {
                    let values = DependencyValues.current
                    let thread = Thread { withDependencies(from: values) { _ = values[Left.self] } }
                    thread.start()
                    _ = values[Right.self]
                }
            }
        )
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("need each other while they are created"))
        #expect(message.contains("Left →") || message.contains("Right →"))
        #expect(message.contains("Left") && message.contains("Right"))
    }

    @Test("A value that needs itself stops the process with a message that names it")
    func itself() async throws {
        let result = try #require(
            await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) {
                withDependencies {
                    $0.context = .live
                } operation: {
                    _ = DependencyValues.current[Itself.self]
                }
            }
        )
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("Itself → "))
    }
    #endif
}
