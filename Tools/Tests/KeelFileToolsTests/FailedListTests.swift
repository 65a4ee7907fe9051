import Foundation
import HTTPTypes
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@testable import KeelFileTools

@Suite("Copies of several files that fail", .timeLimit(.minutes(5)))
struct FailedListTests {
    /// A bucket with the file `key`.
    private func transfers() -> FileTransfers {
        let transport = ScriptedHTTPTransport()
        let fields: HTTPFields = [
            .contentLength: "5", .eTag: "\"v1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        transport.on(.get, "/bucket/key") { _ in
            .status(.ok, headers: fields, body: Array("bytes".utf8))
        }
        transport.on(.get, "/bucket/missing") { _ in .status(.notFound) }
        let settings = BucketSettings(
            endpoint: "http://127.0.0.1:9000",
            environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "secret"]
        )
        return FileTransfers(settings, over: transport)
    }

    @Test("A copy whose list fails completes the files in progress before it fails")
    func completes() async throws {
        let scratch = try Scratch()
        let target = scratch.file("target")
        let transfers = transfers()

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

    @Test("A file that fails while the next one is listed is the last one started")
    func stops() async throws {
        let scratch = try Scratch()
        let (first, second) = (scratch.file("first").path, scratch.file("second").path)
        let meter = CopyMeter { _ in }
        var listed = 0
        let report = try await transfers().copyEach(meter, FileTransfers.Options()) {
            listed += 1
            guard listed > 1 else {
                return (from: .bucket(name: "bucket", key: "missing"), to: .local(path: first))
            }
            try await waitUntil { meter.hasFailed }
            guard listed == 2 else { return nil }
            return (from: .bucket(name: "bucket", key: "key"), to: .local(path: second))
        }
        #expect(report.failures.count == 1 && report.fileCount == 0)
        #expect(!FileManager.default.fileExists(atPath: second))
    }

    @Test("A failed file is named even if the list fails after it")
    func failsTwice() async throws {
        let scratch = try Scratch()
        let missing = FilePlace.bucket(name: "bucket", key: "missing")
        let target = scratch.file("target")
        let meter = CopyMeter { _ in }
        var isListed = false
        let report = try await transfers().copyEach(meter, FileTransfers.Options()) {
            guard !isListed else {
                try await waitUntil { meter.hasFailed }
                throw ToolError("the list failed", advice: "List it again.")
            }
            isListed = true
            return (from: missing, to: .local(path: target.path))
        }
        #expect(report.failures.map(\.from) == [missing])
        #expect((report.listFailure as? ToolError)?.message == "the list failed")
    }
}
