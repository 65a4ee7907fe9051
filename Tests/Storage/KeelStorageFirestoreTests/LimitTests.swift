import HTTPTypes
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Time limits of network calls")
struct LimitTests {
    @Test("The remaining time of the call is sent to the server")
    func header() async throws {
        let found = #"[{"missing": "projects/keel/databases/(default)/documents/a/1"}]"#
        let scripted = try Scripted.keel([.keel(found), .keel(found), .keel(found)])
        let clock = TestClock()
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(scripted.adapter, configuration: configuration)
        _ = try await storage.findDocument("a/1")
        try await storage.limited(to: .milliseconds(2_500)).transaction { transaction in
            _ = try await storage.findDocument("a/1")
            await clock.advance(by: .seconds(1))
            _ = try await storage.findDocument("a/1")
        }
        let field = try #require(HTTPField.Name("X-Server-Timeout"))
        #expect(
            scripted.transport.calls.map { $0.head.headerFields[field] } == [nil, "2.5", "1.5"]
        )
    }

    @Test("An expired call is not sent")
    func isOver() async throws {
        let scripted = try Scripted.keel([])
        let clock = TestClock()
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(scripted.adapter, configuration: configuration)
        let error = await expectError(StorageError.self, .timeout) {
            try await storage.limited(to: .seconds(1)).transaction { _ in
                await clock.advance(by: .seconds(1))
                try await storage.setDocument("a/1", [:])
            }
        }
        #expect(error?.effect == StorageError.Effect.none)
        #expect(scripted.requests.isEmpty)
    }
}
