import KeelDependencies
import KeelTestSupport
import Testing

@Suite("Dependency contexts")
struct ContextTests {
    @Test("A test process has the test context")
    func isATest() {
        #expect(DependencyValues.current.context == .test)
        #expect(Welcome().name == "test")
    }

    @Test("Each context has its own value", arguments: DependencyContext.allCases)
    func hasItsValue(context: DependencyContext) {
        withDependencies {
            $0.context = context
        } operation: {
            #expect(Welcome().name == context.rawValue)
        }
    }

    @Test("A preview without its own value gets the shared live value")
    func previewsFallBack() {
        enum Key: DependencyKey { static var liveValue: Counter { Counter() } }
        let live = read(Key.self, in: .live)
        let preview = read(Key.self, in: .preview)
        #expect(live === preview)
    }

    @Test("A live value is created once, however many tasks read it at once")
    func liveOnce() async {
        enum Key: DependencyKey {
            static let made = Counter()
            static var liveValue: Counter {
                made.next()
                return Counter()
            }
        }
        let identities = await withTaskGroup(of: ObjectIdentifier.self) { group in
            for _ in 0..<100 {
                group.addTask { ObjectIdentifier(read(Key.self, in: .live)) }
            }
            return await group.reduce(into: Set<ObjectIdentifier>()) { $0.insert($1) }
        }
        #expect(identities.count == 1)
        #expect(Key.made.count == 1)
    }

    @Test("A live value that reads another is created outside every override")
    func liveIsOutOfReach() {
        enum Key: DependencyKey {
            static var liveValue: Greeter { DependencyValues.current.greeter }
        }
        let value = withDependencies {
            $0.context = .live
            $0.greeter.name = "a test's own"
        } operation: {
            DependencyValues.current[Key.self]
        }
        #expect(value.name == "live")
    }

    @Test("A test value is created once per test")
    func testValuesBelongToTheTest() {
        enum Key: DependencyKey {
            static var liveValue: Counter { Counter() }
            static var testValue: Counter { Counter() }
        }
        @Dependency(Key.self) var counter
        let first = withDependencies { _ in
        } operation: {
            let value = counter
            withDependencies {
                $0.greeter.name = "unrelated"
            } operation: {
                #expect(counter === value)
            }
            return value
        }
        let second = withDependencies { _ in
        } operation: {
            counter
        }
        #expect(first !== second)
    }

    @Test("A test value can read the test's overrides")
    func testValuesReadOverrides() {
        enum Key: DependencyKey {
            static var liveValue: String { "live" }
            static var testValue: String { "hello " + DependencyValues.current.greeter.name }
        }
        withDependencies {
            $0.greeter.name = "you"
        } operation: {
            #expect(DependencyValues.current[Key.self] == "hello you")
        }
    }

    @Test(
        "The context is detected from the process",
        arguments: [
            (["/app/Restaurants"], [:], DependencyContext.live),
            ([], [:], .live),
            (["/app/.build/debug/AppPackageTests.xctest"], [:], .test),
            (["/Xcode/usr/bin/xctest", "-XCTest", "All"], [:], .test),
            (["/Xcode/usr/libexec/swiftpm-testing-helper"], [:], .test),
            (["/app/AppTests", "--testing-library", "swift-testing"], [:], .test),
            (["/app/App"], ["XCTestConfigurationFilePath": ""], .test),
            (["/app/App"], ["XCODE_RUNNING_FOR_PREVIEWS": "1"], .preview),
            (["/app/App"], ["KEEL_DEPENDENCY_CONTEXT": "test"], .test),
            (["/app/AppPackageTests.xctest"], ["KEEL_DEPENDENCY_CONTEXT": "live"], .live),
            (["/app/App"], ["KEEL_DEPENDENCY_CONTEXT": "nonsense"], .live),
        ]
    )
    func isFoundOut(
        arguments: [String],
        environment: [String: String],
        expected: DependencyContext
    ) {
        let found = DependencyContext.detected(
            arguments: arguments,
            environment: environment,
            isReleaseBuild: false
        ) { Issue.record("There is nothing to say: \($0)") }
        #expect(found == expected)
    }

    @Test(
        "In a release build the environment selects no test or preview values, and a warning says so",
        arguments: [
            (["/app/App"], "test", DependencyContext.live, 1),
            (["/app/App"], "preview", .live, 1),
            (["/app/App"], "live", .live, 0),
            // In a release build, such as for measurements, the runner determines that it is a test.
            (["/app/AppPackageTests.xctest"], "live", .live, 0),
            (["/app/AppPackageTests.xctest"], "preview", .test, 1),
        ]
    )
    func release(arguments: [String], named: String, expected: DependencyContext, warnings: Int) {
        var messages: [String] = []
        let found = DependencyContext.detected(
            arguments: arguments,
            environment: ["KEEL_DEPENDENCY_CONTEXT": named],
            isReleaseBuild: true
        ) { messages.append($0) }
        #expect(found == expected)
        #expect(messages.count == warnings)
        #expect(messages.allSatisfy { $0.contains("KEEL_DEPENDENCY_CONTEXT=\(named)") })
    }

    private func read<Key: DependencyKey>(
        _ key: Key.Type,
        in context: DependencyContext
    ) -> Key.Value {
        withDependencies {
            $0.context = context
        } operation: {
            DependencyValues.current[key]
        }
    }
}
