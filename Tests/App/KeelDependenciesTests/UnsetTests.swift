import KeelDependencies
import KeelDependenciesTesting
import Synchronization
import Testing

@Suite("Unset test values")
struct UnsetTests {
    private struct Model {
        @Dependency(UnsetKey.self) var greeter
    }

    @Test("Reading an unset key fails the test that reads it, and the test continues")
    func failsTheTest() {
        var name: String?
        withKnownIssue {
            name = Model().greeter.name
        } matching: { issue in
            let text = issue.comments.map(\.rawValue).joined()
            return text.contains("UnsetKey has no value in tests")
                && text.contains("value type: KeelDependenciesTests.Greeter")
                && text.contains("KeelDependenciesTests/UnsetTests.swift:9")
                && text.contains("@Test(.dependencies { $0[UnsetKey.self] = … })")
                && text.contains("withDependencies { $0[UnsetKey.self] = … }")
                && issue.sourceLocation?.line == 9
                && issue.sourceLocation?.fileID == "KeelDependenciesTests/UnsetTests.swift"
        }
        #expect(name == "stand-in")
    }

    @Test("A test with the trait also fails at the read, once", .dependencies())
    func failsOnce() {
        let model = Model()
        withKnownIssue {
            _ = model.greeter
        } matching: {
            $0.comments.contains { $0.rawValue.contains("UnsetKey") }
        }
        #expect(model.greeter.name == "stand-in")
    }

    @Test("A read outside a property wrapper reports its own location")
    func namesThePlace() throws {
        let issues = Mutex([DependencyIssue]())
        withDependencies {
            $0.issueReporter = DependencyIssueReporter { issue in
                issues.withLock { $0.append(issue) }
            }
        } operation: {
            _ = DependencyValues.current[UnsetKey.self]
        }
        let first = issues.withLock { $0.first }
        let issue = try #require(first)
        #expect(issue.location?.line == 49)
        #expect(issue.location?.fileID == #fileID)
        #expect(issue.key == "KeelDependenciesTests.UnsetKey")
        #expect(issue.valueType == "KeelDependenciesTests.Greeter")
    }

    @Test("A key that is set is not reported")
    func setIsFine() {
        let name = withDependencies {
            $0[UnsetKey.self] = Greeter(name: "set")
        } operation: {
            Model().greeter.name
        }
        #expect(name == "set")
    }

    @Test("A key with only a live value is not reported outside tests")
    func liveIsFine() {
        let name = withDependencies {
            $0.context = .live
        } operation: {
            DependencyValues.current[BareKey.self].name
        }
        #expect(name == "live")
    }

    #if !os(iOS) && !os(tvOS) && !os(watchOS) && !os(visionOS)
    @Test("An unset key without a stand-in stops the process and is named")
    func stopsTheProcess() async throws {
        let result = try #require(
            await #expect(
                processExitsWith: .failure,
                observing: [\.standardErrorContent, \.standardOutputContent]
            ) {
                @Dependency(BareKey.self) var greeter
                withKnownIssue { print("went on with the value \(greeter.name)") }
            }
        )
        let message = String(decoding: result.standardErrorContent, as: UTF8.self)
        #expect(message.contains("BareKey has no value in tests"))
        #expect(message.contains("value type: KeelDependenciesTests.Greeter"))
        #expect(message.contains("unset(standIn: …)"))
        let output = String(decoding: result.standardOutputContent, as: UTF8.self)
        #expect(!output.contains("went on"))
    }
    #endif
}
