import Foundation
import HTTPTypes
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@testable import KeelFileTools

@Suite("A copy whose list of files fails")
struct FailedListTests {
    @Test("It completes the files in progress before it fails")
    func completes() async throws {
        let scratch = try Scratch()
        let target = scratch.file("target")
        let transport = ScriptedHTTPTransport()
        let fields: HTTPFields = [
            .contentLength: "5", .eTag: "\"v1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        transport.on(.get, "/bucket/key") { _ in
            .status(.ok, headers: fields, body: Array("bytes".utf8))
        }
        let settings = BucketSettings(
            endpoint: "http://127.0.0.1:9000",
            environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "secret"]
        )
        let transfers = FileTransfers(settings, over: transport)

        func copy() async throws {
            var isListed = false
            _ = try await transfers.copyEach(CopyMeter { _ in }, FileTransfers.Options()) {
                guard !isListed else {
                    throw ToolError("the list failed", advice: "List it again.")
                }
                isListed = true
                return (from: .bucket(name: "bucket", key: "key"), to: .local(path: target.path))
            }
        }
        let error = await #expect(throws: ToolError.self) { try await copy() }
        #expect(error?.message == "the list failed")
        #expect(try String(contentsOf: target, encoding: .utf8) == "bytes")
    }
}
