#if os(Linux) || os(macOS)
import KeelAsyncHTTPClient
import KeelStorageFirestore
import KeelTestSupport
import Testing

/// One emulator of Google's for all tests of a suite, which ends with the suite.
struct EmulatorScope: SuiteTrait, TestScoping {
    @TaskLocal private static var peer: (host: String, transport: AsyncHTTPClientTransport)?

    func scopeProvider(for test: Test, testCase: Test.Case?) -> Self? { test.isSuite ? self : nil }

    @concurrent
    func provideScope(
        for test: Test,
        testCase: Test.Case?,
        performing function: @Sendable @concurrent () async throws -> Void
    ) async throws {
        let emulator = try await FirestoreEmulator()
        let transport = AsyncHTTPClientTransport()
        let peer = (host: emulator.host, transport: transport)
        var failure: (any Error)?
        do { try await Self.$peer.withValue(peer, operation: function) } catch { failure = error }
        await transport.shutdown()
        await emulator.stop()
        if let failure { throw failure }
    }

    /// Returns an adapter for an empty database of the emulator.
    static func adapter() throws -> FirestoreStorageAdapter {
        FirestoreStorageAdapter(try configuration(), transport: try transport)
    }

    static var transport: AsyncHTTPClientTransport {
        get throws { try #require(peer, "the suite has the trait EmulatorScope").transport }
    }

    /// Returns the configuration for an empty database of the emulator.
    static func configuration() throws -> FirestoreStorageAdapter.Configuration {
        let peer = try #require(peer, "the suite has the trait EmulatorScope")
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: peer.host,
            project: "p\(UInt64.random(in: 0 ... .max))"
        )
        configuration.timeout = .seconds(600)
        return configuration
    }
}
#endif
