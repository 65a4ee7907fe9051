import Foundation
import HTTPTypes
import KeelFileTools
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("The source of a move")
struct ReplacedSourceTests {
    @Test("It stays if it is replaced at the moment of its removal")
    func replaced() async throws {
        let scratch = try Scratch()
        let copy = scratch.file("copy")
        let transport = ScriptedHTTPTransport()
        let fields: HTTPFields = [
            .contentLength: "3", .eTag: "\"v1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        transport.on(.get, "/bucket/key") { _ in
            .status(.ok, headers: fields, body: Array("old".utf8))
        }
        transport.on(.head, "/bucket/key") { _ in .status(.ok, headers: fields) }
        // There is another version by now.
        transport.on(.delete, "/bucket/key") { match in
            let version = match.call.head.headerFields[.ifMatch]
            return .status(version == nil ? .noContent : .preconditionFailed)
        }
        let settings = BucketSettings(
            endpoint: "http://127.0.0.1:9000",
            environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "secret"]
        )
        let transfers = FileTransfers(settings, over: transport)
        let error = await #expect(throws: ToolError.self) {
            try await transfers.copy(
                from: .bucket(name: "bucket", key: "key"),
                to: .local(path: copy.path),
                isRecursive: false,
                options: FileTransfers.Options(isMove: true)
            )
        }
        #expect(error?.message.contains("was not removed") == true)
        #expect(try String(contentsOf: copy, encoding: .utf8) == "old")
        try transport.verify()
    }
}
