#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelCore
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelFilesS3

/// A test of uploads over connections that are slow, stall, or lose a reply.
@Suite("Uploads over bad connections")
struct UploadTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private static func adapter(
        _ transport: some HTTPTransport,
        watchClock: any Clock<Duration> = ContinuousClock(),
        _ change: (inout S3FileStoreAdapter.Configuration) -> Void = { _ in }
    ) throws -> S3FileStoreAdapter {
        try s3Adapter(transport, watchClock: watchClock) { configuration in
            configuration.partByteCount = 5 << 20
            configuration.maximumConcurrentParts = 1
            change(&configuration)
        }
    }

    // MARK: Slow connections

    @Test("A file is uploaded over 1 Mbit/s, in parts and as a whole", arguments: [5, 8, 18])
    func slowLine(_ megabytes: Int) async throws {
        let line = SlowLine(bytesPerSecond: 125_000 / 4)
        let bytes = sampleBytes(1, count: megabytes << 20)
        let adapter = try Self.adapter(line) { $0.partByteCount = 8 << 20 }
        try await FileStore(adapter).write(FileContent(bytes), to: "a")
        #expect(line.stored.values.reduce(0) { $0 + $1.count } == bytes.count)
        #expect(line.stored.sorted { $0.key < $1.key }.flatMap(\.value) == bytes)
        #expect(line.refused == 0)
    }

    @Test("A stalled connection is abandoned, and the part is sent again")
    func stalledLine() async throws {
        let clock = TestClock()
        let line = StallingLine(afterPieces: 10)
        let adapter = try Self.adapter(line, watchClock: clock) { configuration in
            configuration.retry = RetryPolicy(attempts: 2)
        }
        let put = Task {
            try await FileStore(adapter).write(FileContent(sampleBytes(1, count: 5 << 20)), to: "a")
        }
        for attempt in 1...2 {
            try await waitUntil { line.stalled == attempt }
            // Time passes only while the stall timeout sleeps, and stops when the attempt has ended. Otherwise the next
            // timeout would expire before it has begun.
            while true {
                try await waitUntil { clock.sleeperCount > 0 || line.ended == attempt }
                if line.ended == attempt { break }
                await clock.advance(by: .seconds(60 + 320))
            }
        }
        await #expect(throws: FileStoreError.self) { try await put.value }
        #expect(line.stalled == 2)
    }

    // MARK: Records of uploads

    @Test("A part that cannot be recorded on a full disk counts as sent")
    func fullDisk() async throws {
        let files = SimulatedFileSystem()
        let head = UploadManifest.Head(
            place: "http://127.0.0.1:9000/bucket",
            key: "a",
            uploadID: "u",
            partByteCount: 5 << 20,
            fields: "",
            checksum: nil
        )
        let manifest = try #require(try UploadManifest.begin("/notes/a.upload", head, in: files))
        files.limit(to: files.disk.byteCount)
        let transport = ScriptedHTTPTransport([.status(.ok, headers: [.eTag: "\"p1\""])])
        let upload = S3Upload(
            connection: try Self.adapter(transport).connection,
            file: S3NewFile(
                path: "a",
                key: "a",
                content: FileContent([]),
                options: FileWriteOptions()
            ),
            id: "u",
            manifest: manifest,
            known: [:]
        )
        let part = try await upload.send(1, sampleBytes(1, count: 5 << 20))
        #expect(part.number == 1 && part.tag == "\"p1\"")
        try transport.verify()
    }

    @Test("The error of records that cannot be stored names their folder")
    func unusableFolder() async throws {
        let scratch = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: scratch) }
        try Data().write(to: scratch.appending(path: "file"))
        let folder = scratch.path + "/file/uploads"
        let adapter = try Self.adapter(ScriptedHTTPTransport()) { $0.uploadFolder = folder }
        let bytes = sampleBytes(1, count: 6 << 20)
        let error = await #expect(throws: FileStoreError.self) {
            try await FileStore(adapter).write(FileContent(bytes), to: "a")
        }
        #expect(error?.message.contains("“\(folder)”") == true)
    }

    // MARK: Lost replies

    private static func refusal(_ status: HTTPResponse.Status, _ code: String) -> Answer {
        let text = "<?xml version=\"1.0\"?><Error><Code>\(code)</Code></Error>"
        return .status(status, body: Array(text.utf8))
    }

    private static func head(_ bytes: [UInt8], tag: String, of kept: [UInt8]? = nil) throws
        -> Answer
    {
        let checksum = try FileChecksum.of(kept ?? bytes, by: .crc32c)
        var headers: HTTPFields = [
            .contentLength: "\(bytes.count)", .eTag: "\"\(tag)\"",
            .lastModified: "Fri, 15 Jan 2027 08:00:00 GMT",
        ]
        let more = [
            "x-amz-checksum-crc32c": Data(checksum.bytes).base64EncodedString(),
            "x-amz-checksum-type": "FULL_OBJECT",
        ]
        for (name, value) in more {
            if let name = HTTPField.Name(name) { headers[name] = value }
        }
        return .status(.ok, headers: headers)
    }

    /// The replies up to the completion of an upload in two parts.
    private static var begun: [Answer] {
        let id =
            "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
        return [
            .status(.ok, body: Array(id.utf8)), .status(.ok, headers: [.eTag: "\"p1\""]),
            .status(.ok, headers: [.eTag: "\"p2\""]),
        ]
    }

    @Test("A condition that the upload itself has made false is not a failure")
    func ownFile() async throws {
        let bytes = sampleBytes(1, count: 6 << 20)
        let transport = ScriptedHTTPTransport(
            [Self.refusal(.notFound, "NoSuchKey")] + Self.begun + [
                .failure(TransportError(.connectionLost, processed: .maybe)),
                Self.refusal(.preconditionFailed, "PreconditionFailed"),
                try Self.head(bytes, tag: "e-2"), try Self.head(bytes, tag: "e-2"),
            ]
        )
        let metadata = try await FileStore(Self.adapter(transport)).write(
            FileContent(bytes),
            to: "a",
            options: FileWriteOptions(condition: .absent)
        )
        #expect(metadata.version == FileVersion("e-2"))
        try transport.verify()
    }

    @Test("A condition that another client's file has made false is a failure")
    func othersFile() async throws {
        let bytes = sampleBytes(1, count: 6 << 20)
        let other = sampleBytes(2, count: 6 << 20)
        let transport = ScriptedHTTPTransport(
            [Self.refusal(.notFound, "NoSuchKey")] + Self.begun + [
                .failure(TransportError(.connectionLost, processed: .maybe)),
                Self.refusal(.preconditionFailed, "PreconditionFailed"),
                try Self.head(bytes, tag: "x-2", of: other), .status(.noContent),
            ]
        )
        await expectError(FileStoreError.self, .conditionFailed) {
            try await FileStore(Self.adapter(transport)).write(
                FileContent(bytes),
                to: "a",
                options: FileWriteOptions(condition: .absent)
            )
        }
        try transport.verify()
    }

    @Test("A condition that another client's file with the same bytes has made false is a failure")
    func othersEqualFile() async throws {
        let scratch = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: scratch) }
        let transport = ScriptedHTTPTransport(
            [Self.refusal(.notFound, "NoSuchKey")] + Self.begun + [
                Self.refusal(.preconditionFailed, "PreconditionFailed"), .status(.noContent),
            ]
        )
        let adapter = try Self.adapter(transport) { $0.uploadFolder = scratch.path }
        await expectError(FileStoreError.self, .conditionFailed) {
            try await FileStore(adapter).write(
                FileContent(sampleBytes(1, count: 6 << 20)),
                to: "a",
                options: FileWriteOptions(condition: .absent)
            )
        }
        // The parts are removed, and the other client's file is not asked for.
        #expect(transport.calls.map(\.head.method) == [.head, .post, .put, .put, .post, .delete])
    }

    @Test("If the server has lost a part, the next attempt begins a new upload")
    func lostPart() async throws {
        let scratch = try TemporaryFolder()
        let bytes = sampleBytes(1, count: 6 << 20)
        let made =
            "<CompleteMultipartUploadResult><ETag>\"e-2\"</ETag></CompleteMultipartUploadResult>"
        let transport = ScriptedHTTPTransport(
            Self.begun + [Self.refusal(.badRequest, "InvalidPart"), .status(.noContent)]
                + Self.begun + [
                    .status(.ok, body: Array(made.utf8)), try Self.head(bytes, tag: "e-2"),
                ]
        )
        let store = FileStore(try Self.adapter(transport) { $0.uploadFolder = scratch.path })
        let error = await expectError(FileStoreError.self, .unavailable) {
            try await store.write(FileContent(bytes), to: "a")
        }
        #expect(error?.isTransient == true)
        try await store.write(FileContent(bytes), to: "a")
        try transport.verify()
    }

    @Test("A put returns the version of its own file, not of a later one")
    func ownVersion() async throws {
        let bytes = sampleBytes(1, count: 6 << 20)
        let made =
            "<CompleteMultipartUploadResult><ETag>\"e-2\"</ETag></CompleteMultipartUploadResult>"
        for later in ["e-2", "x-2"] {
            let transport = ScriptedHTTPTransport(
                Self.begun + [
                    .status(.ok, body: Array(made.utf8)), try Self.head(bytes, tag: later),
                ]
            )
            let metadata = try await FileStore(Self.adapter(transport)).write(
                FileContent(bytes),
                to: "a"
            )
            #expect(metadata.version == FileVersion("e-2"))
            try transport.verify()
        }
    }
}

/// A connection with a limited number of bytes per second, on its own clock, with a bucket at its end.
private final class SlowLine: HTTPTransportDouble {
    private struct State {
        var stored: [String: [UInt8]] = [:]
        var refused = 0
    }

    private let bytesPerSecond: Int
    private let state = Mutex(State())

    init(bytesPerSecond: Int) { self.bytesPerSecond = bytesPerSecond }

    /// The parts that have arrived, by number.
    var stored: [String: [UInt8]] { state.withLock(\.stored) }
    /// The number of requests that their own timeout has ended.
    var refused: Int { state.withLock(\.refused) }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var bytes: [UInt8] = []
        var pieces = try await call.body?.open().makeAsyncIterator()
        while let piece = try await pieces?.next() {
            bytes += piece
            let seconds = bytes.count / bytesPerSecond
            // As in real transports, the timeout counts from the start of the exchange.
            if let limit = call.timeouts.firstByte, .seconds(seconds) > limit {
                state.withLock { $0.refused += 1 }
                throw TransportError(.responseTimeout)
            }
        }
        let path = call.head.path ?? ""
        switch call.head.method {
        case .put:
            let part = path.split(separator: "partNumber=").dropFirst().first?.first
            state.withLock { $0.stored[part.map { String($0) } ?? ""] = bytes }
            return HTTPReply(head: HTTPResponse(status: .ok, headerFields: [.eTag: "\"p\""]))
        case .post where path.contains("uploadId="):
            return reply(
                "<CompleteMultipartUploadResult><ETag>\"e\"</ETag></CompleteMultipartUploadResult>"
            )
        case .post:
            return reply(
                "<InitiateMultipartUploadResult><UploadId>u</UploadId></InitiateMultipartUploadResult>"
            )
        default: return HTTPReply(head: HTTPResponse(status: .notFound))
        }
    }

    private func reply(_ text: String) -> HTTPReply {
        HTTPReply(head: HTTPResponse(status: .ok), body: .chunks([Array(text.utf8)]))
    }
}

/// A connection that takes a number of pieces of each body, and then stalls.
private final class StallingLine: HTTPTransportDouble {
    private let pieceCount: Int
    private let counts = Mutex((stalled: 0, ended: 0))

    init(afterPieces pieceCount: Int) { self.pieceCount = pieceCount }

    var stalled: Int { counts.withLock(\.stalled) }
    var ended: Int { counts.withLock(\.ended) }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var pieces = try await call.body?.open().makeAsyncIterator()
        for _ in 0..<pieceCount { _ = try await pieces?.next() }
        counts.withLock { $0.stalled += 1 }
        await waitForCancellation()
        counts.withLock { $0.ended += 1 }
        throw TransportError(.cancelled)
    }
}
#endif
