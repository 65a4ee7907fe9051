import KeelDependencies
import KeelDependenciesTesting
import KeelTestSupport
import Testing

@Suite("Dependencies trait", .dependencies { $0.greeter.name = "suite" })
struct TraitTests {
    private enum CounterKey: DependencyKey {
        static var liveValue: Counter { Counter() }
        static var testValue: Counter { Counter() }
    }

    @Dependency(\.greeter) private var greeter
    @Dependency(CounterKey.self) private var counter

    @Test("A suite's values reach its tests")
    func suiteValues() {
        #expect(greeter.name == "suite")
    }

    @Test("A test's own values take precedence", .dependencies { $0.greeter.name += ", test" })
    func testValues() async {
        #expect(greeter.name == "suite, test")
        #expect(await Task { Welcome().name }.value == "suite, test")
    }

    @Test("Setup can suspend and throw", .dependencies { $0.greeter = try await greeted() })
    func waits() {
        #expect(greeter.name == "fetched")
    }

    @Test("Each case of a test has its own test values", arguments: 0..<10)
    func ownValues(number: Int) async {
        #expect(counter.count == 0)
        for _ in 0..<5 {
            counter.next()
            await Task.yield()
        }
        #expect(counter.count == 5)
    }

    private static func greeted() async throws -> Greeter {
        try Task.checkCancellation()
        return await Task { Greeter(name: "fetched") }.value
    }
}
