#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelFiles
import KeelHTTP
import KeelTestKit
import Testing

@testable import KeelFilesS3

@Suite("Conditions on copies")
struct CopyConditionTests {
    private static let object = ScriptedHTTPTransport.Answer.status(
        .ok,
        headers: [
            .contentLength: "5", .eTag: "\"e1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
    )

    /// Copies a file to a free path, and returns the request that copies.
    private func copy(at endpoint: String) async throws -> ScriptedHTTPTransport.Call {
        let copied = "<CopyObjectResult><ETag>&quot;e1&quot;</ETag></CopyObjectResult>"
        let transport = ScriptedHTTPTransport([
            Self.object, .status(.notFound), .status(.ok, body: Array(copied.utf8)), Self.object,
        ])
        let adapter = try s3Adapter(transport, endpoint: endpoint) { $0.region = "auto" }
        _ = try await adapter.transfer(FileTransferRequest(from: "a", to: "b", if: .absent))
        try transport.verify()
        return try #require(transport.calls.first { $0.head.method == .put })
    }

    @Test("S3 gets them in its standard fields")
    func standard() async throws {
        let fields = try await copy(at: "http://127.0.0.1:9000").head.headerFields
        #expect(fields.first("if-none-match") == "*")
        #expect(fields.first("cf-copy-destination-if-none-match") == nil)
    }

    @Test("Cloudflare R2 gets them in its own fields, also in a jurisdiction")
    func r2() async throws {
        for account in ["account", "account.eu"] {
            let endpoint = "https://\(account).r2.cloudflarestorage.com:443"
            let fields = try await copy(at: endpoint).head.headerFields
            #expect(fields.first("cf-copy-destination-if-none-match") == "*")
            #expect(fields.first("if-none-match") == nil)
            let signature = fields.first("authorization") ?? ""
            #expect(signature.contains("cf-copy-destination-if-none-match;"), "\(signature)")
        }
    }

    /// Moves a file of which the server says something else after the copy.
    private func move(
        later: [ScriptedHTTPTransport.Answer],
        honorsConditions: Bool = true
    ) async throws -> [HTTPRequest.Method] {
        let copied = "<CopyObjectResult><ETag>&quot;e1&quot;</ETag></CopyObjectResult>"
        let transport = ScriptedHTTPTransport(
            [Self.object, .status(.ok, body: Array(copied.utf8)), Self.object] + later
        )
        let adapter = try s3Adapter(transport) { $0.honorsConditions = honorsConditions }
        _ = try await adapter.transfer(
            FileTransferRequest(from: "a", to: "b", isMove: true, if: .none)
        )
        return transport.calls.map(\.head.method)
    }

    @Test(
        "A source that is replaced during a move stays, and the error says what happened",
        arguments: [true, false]
    )
    func replacedSource(honorsConditions: Bool) async throws {
        let replaced = ScriptedHTTPTransport.Answer.status(
            .ok,
            headers: [
                .contentLength: "6", .eTag: "\"e2\"",
                .lastModified: "Fri, 15 Jan 2027 08:00:01 GMT",
            ]
        )
        let error = await #expect(throws: FileStoreError.self) {
            _ = try await move(
                later: [replaced, replaced],
                honorsConditions: honorsConditions
            )
        }
        #expect(error?.code == .conditionFailed)
        #expect(
            error?.message == "“a” was copied to “b” but not deleted: it was replaced meanwhile"
        )
    }

    @Test("A move succeeds if somebody else deletes its source meanwhile")
    func deletedSource() async throws {
        let methods = try await move(later: [.status(.notFound), .status(.notFound)])
        #expect(!methods.contains(.delete))
    }
}
#endif
