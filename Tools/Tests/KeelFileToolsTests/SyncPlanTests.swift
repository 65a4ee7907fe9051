import Foundation
import HTTPTypes
import KeelTestKit
import KeelToolSupport
import KeelToolsTestSupport
import Testing

@testable import KeelFileTools

@Suite("The plan of a sync")
struct SyncPlanTests {
    private let transport = ScriptedHTTPTransport()

    private var transfers: FileTransfers {
        let settings = BucketSettings(
            endpoint: "http://127.0.0.1:9000",
            environment: ["AWS_ACCESS_KEY_ID": "A", "AWS_SECRET_ACCESS_KEY": "secret"]
        )
        return FileTransfers(settings, over: transport)
    }

    /// Answers lists of a bucket with objects of three bytes.
    private func list(_ bucket: String, _ objects: [(key: String, time: String, version: String)]) {
        let contents = objects.map { object in
            "<Contents><Key>\(object.key)</Key><LastModified>\(object.time)</LastModified>"
                + "<ETag>&quot;\(object.version)&quot;</ETag><Size>3</Size></Contents>"
        }
        let text =
            "<ListBucketResult><IsTruncated>false</IsTruncated>"
            + contents.joined() + "</ListBucketResult>"
        transport.on(.get, "/\(bucket)/") { _ in .status(.ok, body: Array(text.utf8)) }
    }

    @Test("Files behind a link are skipped even if a name begins with a combining mark")
    func behindLink() async throws {
        let scratch = try Scratch()
        let folder = scratch.file("folder")
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        try FileManager.default.createSymbolicLink(
            atPath: folder.path + "/link",
            withDestinationPath: scratch.folder.path
        )
        let time = "2027-01-15T08:00:00Z"
        list("bucket", [("link/a", time, "1"), ("link/\u{301}b", time, "1"), ("link2", time, "1")])
        let bucket = FilePlace.bucket(name: "bucket", key: "")
        let local = FilePlace.local(path: folder.path)
        let there = try await transfers.plan(from: bucket, to: local)
        #expect(there.skipped == ["link/a", "link/\u{301}b"])
        #expect(there.copies.map(\.from) == [.bucket(name: "bucket", key: "link2")])
        let back = try await transfers.plan(from: local, to: bucket)
        #expect(back.deletions == [.bucket(name: "bucket", key: "link2")])
    }

    @Test("Between buckets, a file replaced in the second of its copy is copied again")
    func sameSecond() async throws {
        let (early, late) = ("2027-01-15T08:00:00Z", "2027-01-15T08:00:01Z")
        list("source", [("a", early, "1"), ("b", early, "2"), ("c", early, "2"), ("d", late, "1")])
        list("target", [("a", early, "1"), ("b", early, "1"), ("c", late, "1"), ("d", early, "1")])
        let plan = try await transfers.plan(
            from: .bucket(name: "source", key: ""),
            to: .bucket(name: "target", key: "")
        )
        #expect(plan.copies.map(\.to.description) == ["s3://target/b", "s3://target/d"])
        #expect(plan.unchangedCount == 2)
    }

    @Test("A subfolder that is gone when it is read is skipped, but not the folder itself")
    func vanishedFolders() throws {
        let scratch = try Scratch()
        let folder = scratch.file("folder").path
        for name in ["gone", "kept"] {
            try FileManager.default.createDirectory(
                atPath: "\(folder)/\(name)",
                withIntermediateDirectories: true
            )
            try Data("x".utf8).write(to: URL(filePath: "\(folder)/\(name)/file"))
        }
        func tree(without vanished: String) throws -> LocalTree {
            try LocalTree(folder) { path in
                if path == vanished { try FileManager.default.removeItem(atPath: path) }
                return try FileManager.default.contentsOfDirectory(atPath: path)
            }
        }
        let read = try tree(without: "\(folder)/gone")
        try read.requireReadable()
        #expect(read.files.map(\.names) == ["kept/file"] && read.skipped == ["gone"])
        let unread = try tree(without: folder)
        #expect(throws: ToolError.self) { try unread.requireReadable() }
    }
}
