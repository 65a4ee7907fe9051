import Foundation
import HTTPTypes
import KeelFileTools
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@Suite("The source of a copy or a move")
struct ReplacedSourceTests {
    private let transport = ScriptedHTTPTransport()

    private var transfers: FileTransfers {
        let settings = BucketSettings(
            endpoint: "http://127.0.0.1:9000",
            environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "secret"]
        )
        return FileTransfers(settings, over: transport)
    }

    private func fields(_ version: String) -> HTTPFields {
        [
            .contentLength: "3", .eTag: "\"\(version)\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
    }

    @Test("It stays if it is replaced at the moment of its removal")
    func replaced() async throws {
        let scratch = try Scratch()
        let copy = scratch.file("copy")
        let old = fields("v1")
        transport.on(.get, "/bucket/key") { _ in
            .status(.ok, headers: old, body: Array("old".utf8))
        }
        transport.on(.head, "/bucket/key") { _ in .status(.ok, headers: old) }
        // There is another version by now.
        transport.on(.delete, "/bucket/key") { match in
            let version = match.call.head.headerFields[.ifMatch]
            return .status(version == nil ? .noContent : .preconditionFailed)
        }
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

    @Test("A change during a copy to another bucket is reported, because the copy is newer")
    func replacedDuringCopy() async throws {
        let (old, new) = (fields("v1"), fields("v2"))
        transport.on(.get, "/source/key") { _ in
            .status(.ok, headers: old, body: Array("old".utf8))
        }
        transport.on(.put, "/target/key") { _ in .status(.ok, headers: [.eTag: "\"v1\""]) }
        transport.on(.head, "/target/key") { _ in .status(.ok, headers: old) }
        transport.on(.head, "/source/key") { _ in .status(.ok, headers: new) }
        let error = await #expect(throws: ToolError.self) {
            try await transfers.copy(
                from: .bucket(name: "source", key: "key"),
                to: .bucket(name: "target", key: "key"),
                isRecursive: false
            )
        }
        #expect(error?.message.contains("changed while it was copied") == true)
        try transport.verify()
    }

    @Test("Its attributes are copied, also with names that Keel's own files do not have")
    func attributes() async throws {
        let name = try #require(HTTPField.Name("x-amz-meta-camera_model"))
        var old = fields("v1")
        old[name] = "X 100"
        let kept = old
        transport.on(.get, "/source/key") { _ in
            .status(.ok, headers: kept, body: Array("old".utf8))
        }
        transport.on(.head, "/source/key") { _ in .status(.ok, headers: kept) }
        transport.on(.put, "/target/key") { _ in .status(.ok, headers: [.eTag: "\"v1\""]) }
        transport.on(.head, "/target/key") { _ in .status(.ok, headers: kept) }
        _ = try await transfers.copy(
            from: .bucket(name: "source", key: "key"),
            to: .bucket(name: "target", key: "key"),
            isRecursive: false
        )
        let put = transport.calls.first { $0.head.method == .put }
        #expect(put?.head.headerFields[name] == "X 100")
    }
}
