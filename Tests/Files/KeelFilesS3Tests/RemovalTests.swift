#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFilesS3

@Suite("Deleting many objects with one request")
struct RemovalTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private static func refusal(_ status: HTTPResponse.Status, _ code: String) -> Answer {
        .status(status, body: Array("<Error><Code>\(code)</Code></Error>".utf8))
    }

    private static func object(_ text: String) -> Answer {
        let headers: HTTPFields = [
            .contentLength: "\(text.utf8.count)", .eTag: "\"e1\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        return .status(.ok, headers: headers, body: Array(text.utf8))
    }

    private static func list(_ keys: String...) -> Answer {
        let contents = keys.map { key in
            "<Contents><Key>\(key)</Key><LastModified>2027-01-15T08:00:00Z</LastModified>"
                + "<ETag>&quot;1&quot;</ETag><Size>1</Size></Contents>"
        }
        let text =
            "<ListBucketResult><IsTruncated>false</IsTruncated>\(contents.joined())</ListBucketResult>"
        return .status(.ok, body: Array(text.utf8))
    }

    private static func result(_ text: String) -> Answer {
        .status(.ok, body: Array("<DeleteResult>\(text)</DeleteResult>".utf8))
    }

    @Test("The files of a folder are deleted with one request with a checksum")
    func deletesTogether() async throws {
        let transport = ScriptedHTTPTransport([
            Self.list("f/a&amp;b", "f/new&#10;line"),
            Self.result(
                "<Deleted><Key>f/a&amp;b</Key></Deleted><Deleted><Key>f/new&#10;line</Key></Deleted>"
            ),
        ])
        #expect(try await FileStore(try s3Adapter(transport)).deleteAll(in: "f") == 2)
        try transport.verify()
        let call = try #require(transport.calls.last)
        #expect(call.head.method == .post)
        #expect(call.head.path == "/bucket/?delete=")
        let text = """
            <Delete xmlns="http://s3.amazonaws.com/doc/2006-03-01/">\
            <Object><Key>f/a&amp;b</Key></Object><Object><Key>f/new&#10;line</Key></Object></Delete>
            """
        #expect(call.text == text)
        // printf '%s' TEXT | openssl md5 -binary | base64
        #expect(call.head.headerFields.first("content-md5") == "rsGujriqY76kCb9yPCuOXA==")
    }

    @Test("One refused file is an error, and the others are deleted")
    func refusedKey() async throws {
        let transport = ScriptedHTTPTransport([
            Self.list("f/a", "f/b", "f/c"),
            Self.result(
                """
                <Error><Key>f/a</Key><Code>AccessDenied</Code></Error><Deleted><Key>f/b</Key></Deleted>\
                <Error><Key>f/c</Key><Code>NoSuchKey</Code></Error>
                """
            ),
        ])
        let error = await expectError(FileStoreError.self, .permissionDenied) {
            try await FileStore(try s3Adapter(transport)).deleteAll(in: "f")
        }
        #expect(error?.message.contains("f/a") == true)
        try transport.verify()
    }

    @Test("Each path has its result, including paths that the server omits or defers")
    func results() async throws {
        let transport = ScriptedHTTPTransport([
            Self.result(
                """
                <Deleted><Key>a</Key></Deleted><Error><Key>b</Key><Code>NoSuchKey</Code></Error>\
                <Error><Key>c</Key><Code>SlowDown</Code></Error>
                """
            ),
            // The deferred one is deleted separately.
            Self.object("x"), .status(.noContent),
        ])
        let results = await (try s3Adapter(transport)).deleteEach(["a", "b", "c", "d"])
        #expect(results.map { try? $0.get() } == [true, false, true, nil])
        let error = try #require(results.last?.failure)
        #expect(error.code == .invalidReply)
        try transport.verify()
    }

    @Test("A server without the batch request is asked once and then for each file")
    func deletesOneByOne() async throws {
        let transport = ScriptedHTTPTransport([
            Self.refusal(.notImplemented, "NotImplemented"), Self.object("x"), .status(.noContent),
            .status(.notFound), Self.object("x"), .status(.noContent),
        ])
        let adapter = try s3Adapter(transport)
        let first = await adapter.deleteEach(["a", "b"])
        #expect(first.map { try? $0.get() } == [true, false])
        let second = await adapter.deleteEach(["c"])
        #expect(second.map { try? $0.get() } == [true])
        try transport.verify()
    }

    @Test("Paths that XML cannot represent are deleted singly, others a thousand at a time")
    func manyKeys() async throws {
        let paths: [FileStorePath] = (0..<1_001).map { "f/\($0)" } + ["a\u{1}"]
        func reply(_ paths: some Sequence<FileStorePath>) -> Answer {
            Self.result(paths.map { "<Deleted><Key>\($0.string)</Key></Deleted>" }.joined())
        }
        let transport = ScriptedHTTPTransport([
            reply(paths.prefix(1_000)), reply(paths[1_000..<1_001]), Self.object("x"),
            .status(.noContent),
        ])
        let results = await (try s3Adapter(transport)).deleteEach(paths)
        #expect(results.count == paths.count)
        #expect(results.allSatisfy { (try? $0.get()) == true })
        try transport.verify()
    }

    @Test("A failed request reports its error for each of its files")
    func failedTogether() async throws {
        let transport = ScriptedHTTPTransport([Self.refusal(.forbidden, "AccessDenied")])
        let results = await (try s3Adapter(transport)).deleteEach(["a", "b"])
        #expect(results.count == 2)
        for result in results {
            #expect(throws: FileStoreError.self) { try result.get() }
        }
        try transport.verify()
    }

    @Suite(
        "Deletion on real servers",
        .enabled(if: S3Peer.isPresent, S3Peer.absence),
        .timeLimit(.minutes(10))
    )
    struct Peers {
        @Test(
            "All files of a folder are deleted, a thousand at a time",
            arguments: [S3Peer.Kind.moto, .rclone]
        )
        func deletesAll(_ kind: S3Peer.Kind) async throws {
            let peer = try S3Peer.shared(kind)
            let files = FileStore(try peer.adapter(freshFolder()))
            var names = ["a&b<c>\"'", "with space", "ü+%20", "emoji 🦊"]
            if kind == .moto { names += (0..<1_020).map { "n\($0)" } }
            // moto does not accept such a name.
            if kind == .rclone { names.append("new\nline") }
            // Few at a time: the server answers one after the other, and the last of a thousand would wait too long
            // for a connection.
            let lanes = 8
            try await withThrowingTaskGroup(of: Void.self) { [names] group in
                for lane in 0..<lanes {
                    group.addTask {
                        for number in stride(from: lane, to: names.count, by: lanes) {
                            let path = try FileStorePath("f/" + names[number])
                            try await files.write(Data("x".utf8), to: path)
                        }
                    }
                }
                try await group.waitForAll()
            }
            try await files.write(Data("x".utf8), to: "g")
            #expect(try await files.deleteAll(in: "f") == names.count)
            #expect(try await files.list().files.map(\.path) == ["g"])
        }
    }
}
#endif
