#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
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

    private static func version(_ tag: String, size: Int) -> ScriptedHTTPTransport.Answer {
        .status(
            .ok,
            headers: [
                .contentLength: "\(size)", .eTag: "\"\(tag)\"",
                .lastModified: "Fri, 15 Jan 2027 08:00:01 GMT",
            ]
        )
    }

    private static let refusal = ScriptedHTTPTransport.Answer.status(
        .preconditionFailed,
        body: Array("<Error><Code>PreconditionFailed</Code></Error>".utf8)
    )

    @Test("A source that is replaced before the copy is copied in its new version")
    func replacedBeforeCopy() async throws {
        let copied = "<CopyObjectResult><ETag>&quot;e2&quot;</ETag></CopyObjectResult>"
        let transport = ScriptedHTTPTransport([
            Self.object, Self.refusal, Self.version("e2", size: 6),
            .status(.ok, body: Array(copied.utf8)), Self.version("e2", size: 6),
        ])
        let adapter = try s3Adapter(transport)
        let copy = try await adapter.transfer(FileTransferRequest(from: "a", to: "b", if: .none))
        #expect(copy.size == 6 && copy.path == "b")
        let versions = transport.calls.filter { $0.head.method == .put }
            .map { $0.head.headerFields.first("x-amz-copy-source-if-match") }
        #expect(versions == ["\"e1\"", "\"e2\""])
        try transport.verify()
    }

    @Test("A copy that is refused names the file that was replaced")
    func refusedCopies() async throws {
        let often = ["e2", "e3", "e4", "e5"].flatMap { tag in
            [Self.refusal, Self.version(tag, size: 6)]
        }
        let cases: [([ScriptedHTTPTransport.Answer], FileCondition, String)] = [
            (often, .none, "a"), ([.status(.notFound), Self.refusal, Self.object], .absent, "b"),
        ]
        for (answers, condition, name) in cases {
            let transport = ScriptedHTTPTransport([Self.object] + answers)
            let adapter = try s3Adapter(transport)
            let error = await expectError(FileStoreError.self, .conditionFailed) {
                _ = try await adapter.transfer(
                    FileTransferRequest(from: "a", to: "b", if: condition)
                )
            }
            #expect(error?.message.contains("The condition on “\(name)”") == true)
            try transport.verify()
        }
    }

    @Test("A server that ignores conditions gets none on the source of a copy")
    func ignoredConditions() async throws {
        let copied = "<CopyObjectResult><ETag>&quot;e1&quot;</ETag></CopyObjectResult>"
        let transport = ScriptedHTTPTransport([
            Self.object, .status(.ok, body: Array(copied.utf8)), Self.object,
        ])
        let adapter = try s3Adapter(transport) { $0.honorsConditions = false }
        _ = try await adapter.transfer(FileTransferRequest(from: "a", to: "b", if: .none))
        let fields = transport.calls.map(\.head.headerFields)
        #expect(fields.allSatisfy { $0.first("x-amz-copy-source-if-match") == nil })
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
        let replaced = Self.version("e2", size: 6)
        let error = await expectError(FileStoreError.self, .conditionFailed) {
            _ = try await move(later: [replaced, replaced], honorsConditions: honorsConditions)
        }
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
