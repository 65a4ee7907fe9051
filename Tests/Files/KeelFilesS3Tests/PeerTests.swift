#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelCore
import KeelFiles
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelFilesS3

@Suite(
    "Files in buckets of real servers",
    .enabled(if: S3Peer.isPresent, S3Peer.absence),
    .timeLimit(.minutes(10))
)
struct PeerTests {
    private static let megabyte = 1 << 20

    private func smallParts(_ configuration: inout S3FileStoreAdapter.Configuration) {
        configuration.partByteCount = S3FileStoreAdapter.Configuration.minimumPartByteCount
        configuration.maximumConcurrentParts = 3
    }

    private func pieces(_ bytes: [UInt8], isKnown: Bool) -> FileContent {
        let steps = stride(from: 0, to: bytes.count, by: 700_001)
        let parts = steps.map { Array(bytes[$0..<min($0 + 700_001, bytes.count)]) }
        return FileContent(
            AsyncStream { continuation in
                for part in parts { continuation.yield(part) }
                continuation.finish()
            },
            length: isKnown ? bytes.count : nil
        )
    }

    #if URLSession
    @Test("A compressed object is returned as stored or refused, never as other bytes")
    func compressed() async throws {
        let peer = try S3Peer.shared(.moto)
        let folder = freshFolder()
        let stored = try #require(Data(base64Encoded: "H4sIAAAAAAACA8tIzcnJV8igOwkAL/r4SHgAAAA="))
        let address = "\(peer.endpoint)/\(S3Peer.bucket)/\(folder)/packed"
        let head = HTTPRequest(address, .put, [.contentEncoding: "gzip"])
        let reply = try await peer.transport.send(HTTPCall(head, body: HTTPBody(Array(stored))))
        #expect(reply.head.status == .ok)
        #expect(try await FileStore(try peer.adapter(folder)).read("packed") == stored)
        let system = FileStore(
            try S3FileStoreAdapter(peer.configuration(folder), transport: URLSessionTransport())
        )
        await expectError(FileStoreError.self, .unsupported) { try await system.read("packed") }
        // Requesting only the metadata still works.
        #expect(try await system.metadata(of: "packed").size == stored.count)
    }
    #endif

    // MARK: Parts

    @Test(
        "A multipart file survives the round trip, with or without a known length",
        arguments: [S3Peer.Kind.moto, .rclone]
    )
    func parts(_ kind: S3Peer.Kind) async throws {
        let peer = try S3Peer.shared(kind)
        let files = FileStore(try peer.adapter(freshFolder(), smallParts))
        for (index, count) in [5 << 20, (5 << 20) + 1, 16 << 20, (16 << 20) + 7].enumerated() {
            for isKnown in [true, false] {
                let bytes = sampleBytes(count, count: count)
                let path: FileStorePath = "big/\(index) ü+ b"
                let options = FileWriteOptions(
                    contentType: "image/x-own",
                    attributes: ["by": "Zoë"]
                )
                let put = try await files.write(
                    pieces(bytes, isKnown: isKnown),
                    to: path,
                    options: options
                )
                #expect(put.size == count)
                #expect(try await files.metadata(of: path) == put)
                #expect(put.contentType == "image/x-own")
                #expect(put.attributes == ["by": "Zoë"])
                #expect(try await Array(files.read(path)) == bytes)
                let middle = try await files.read(path, range: .bytes(5_242_870, count: 20))
                #expect(Array(middle) == Array(bytes[5_242_870..<min(5_242_890, count)]))
            }
        }
    }

    @Test("A failed put removes what it had uploaded", arguments: [S3Peer.Kind.moto, .rclone])
    func takesBack(_ kind: S3Peer.Kind) async throws {
        let peer = try S3Peer.shared(kind)
        let adapter = try peer.adapter(freshFolder(), smallParts)
        let failing = FileContent(
            AsyncThrowingStream<[UInt8], any Error> { continuation in
                for seed in 0..<4 { continuation.yield(sampleBytes(seed, count: 4 << 20)) }
                continuation.finish(throwing: CocoaError(.fileReadCorruptFile))
            }
        )
        await expectError(FileStoreError.self, .sourceFailed) {
            try await FileStore(adapter).write(failing, to: "a")
        }
        let wrong = FileWriteOptions(checksum: try .of([1], by: .sha256))
        await expectError(FileStoreError.self, .checksumMismatch) {
            try await FileStore(adapter).write(
                FileContent(sampleBytes(1, count: 6 << 20)),
                to: "a",
                options: wrong
            )
        }
        #expect(try await adapter.incompleteUploads().isEmpty)
        #expect(try await FileStore(adapter).list().files.isEmpty)
    }

    @Test("The condition of a multipart upload is checked at its end")
    func conditionalParts() async throws {
        let adapter = try S3Peer.shared(.moto).adapter(freshFolder(), smallParts)
        let files = FileStore(adapter)
        let content = FileContent(sampleBytes(1, count: 6 << 20))
        let first = try await files.write(content, to: "a", options: .init(condition: .absent))
        let replaced = try await files.write(
            FileContent(sampleBytes(2, count: 6 << 20)),
            to: "a",
            options: .init(condition: .version(first.version))
        )
        for condition in [FileCondition.absent, .version(first.version)] {
            await expectError(FileStoreError.self, .conditionFailed) {
                try await files.write(content, to: "a", options: .init(condition: condition))
            }
        }
        // Another client writes the file while its parts are being sent.
        let late = FileContent(length: nil, isReplayable: false) { () throws(FileStoreError) in
            let counter = PieceCounter()
            return FileReader { () async throws(FileStoreError) in
                switch counter.next() {
                case 0: return sampleBytes(1, count: 6 << 20)
                case 1:
                    try await files.write(Data("x".utf8), to: "b")
                    return [1]
                default: return nil
                }
            }
        }
        await expectError(FileStoreError.self, .conditionFailed) {
            try await files.write(late, to: "b", options: .init(condition: .absent))
        }
        #expect(try await files.read("b") == Data("x".utf8))
        #expect(try await files.metadata(of: "a") == replaced)
        #expect(try await adapter.incompleteUploads().isEmpty)
    }

    // MARK: Resuming

    @Test("An interrupted put resumes without sending existing parts again")
    func resumes() async throws {
        for kind in [S3Peer.Kind.moto, .rclone] {
            let peer = try S3Peer.shared(kind)
            let folder = freshFolder()
            let scratch = try TemporaryFolder()
            let bytes = sampleBytes(3, count: 28 << 20)
            func configured(_ transport: some HTTPTransport) throws -> S3FileStoreAdapter {
                var configuration = peer.configuration(folder)
                smallParts(&configuration)
                configuration.maximumConcurrentParts = 1
                configuration.uploadFolder = scratch.path
                configuration.retry = .never
                return try S3FileStoreAdapter(configuration, transport: transport)
            }
            // The upload begins, three parts arrive, and then the network fails.
            let lost = HTTPFault.fail(.offline)
            let broken = peer.transport.failing([nil, nil, nil, nil, lost, lost, lost, lost])
            await expectError(FileStoreError.self, .unavailable) {
                try await FileStore(try configured(broken)).write(FileContent(bytes), to: "a")
            }
            #expect(try await configured(peer.transport).incompleteUploads().count == 1)
            let recorded = peer.transport.recorded()
            let adapter = try configured(recorded)
            try await FileStore(adapter).write(FileContent(bytes), to: "a")
            let parts = recorded.heads.filter { $0.path?.contains("partNumber=") == true }
            #expect(parts.count == 3, "\(kind)")
            #expect(recorded.heads.count { $0.path?.contains("?uploads") == true } == 0)
            #expect(try await Array(FileStore(adapter).read("a")) == bytes)
            #expect(try await adapter.incompleteUploads().isEmpty)
            #expect(try scratch.names().isEmpty)
        }
    }

    @Test("Another file at the same path does not reuse parts of the interrupted upload")
    func resumesAnother() async throws {
        let peer = try S3Peer.shared(.moto)
        let folder = freshFolder()
        let scratch = try TemporaryFolder()
        func adapter(_ transport: some HTTPTransport) throws -> S3FileStoreAdapter {
            var configuration = peer.configuration(folder)
            smallParts(&configuration)
            configuration.maximumConcurrentParts = 1
            configuration.uploadFolder = scratch.path
            configuration.retry = .never
            return try S3FileStoreAdapter(configuration, transport: transport)
        }
        let broken = peer.transport.failing([nil, nil, nil, .fail(), .fail(), .fail()])
        let old = sampleBytes(1, count: 18 << 20)
        await #expect(throws: FileStoreError.self) {
            try await FileStore(try adapter(broken)).write(FileContent(old), to: "a")
        }
        var new = old
        new[6 << 20] ^= 1
        new += [1, 2, 3]
        let good = try adapter(peer.transport)
        try await FileStore(good).write(FileContent(new), to: "a")
        #expect(try await Array(FileStore(good).read("a")) == new)
        // An upload that another client has aborted is restarted.
        await #expect(throws: FileStoreError.self) {
            try await FileStore(
                try adapter(peer.transport.failing([nil, nil, .fail(), .fail(), .fail()]))
            ).write(FileContent(old), to: "b")
        }
        #expect(try await good.abortIncompleteUploads(olderThan: .zero) == 1)
        try await FileStore(good).write(FileContent(old), to: "b")
        #expect(try await Array(FileStore(good).read("b")) == old)
        // So is one with other attributes.
        await #expect(throws: FileStoreError.self) {
            try await FileStore(
                try adapter(peer.transport.failing([nil, nil, .fail(), .fail(), .fail()]))
            ).write(FileContent(old), to: "c")
        }
        let options = FileWriteOptions(attributes: ["x": "1"])
        try await FileStore(good).write(FileContent(old), to: "c", options: options)
        #expect(try await FileStore(good).metadata(of: "c").attributes == ["x": "1"])
        #expect(try await good.incompleteUploads().isEmpty)
    }

    @Test("Abandoned uploads are listed and can be ended by age")
    func orphans() async throws {
        // moto dates every upload to 2010, so only rclone can test the age.
        let peer = try S3Peer.shared(.rclone)
        let adapter = try peer.adapter(freshFolder()) { configuration in
            smallParts(&configuration)
            configuration.retry = .never
        }
        for path in ["b/c", "a +ü"] as [FileStorePath] {
            let file = S3NewFile(
                path: path,
                key: adapter.key(path),
                content: FileContent([]),
                options: FileWriteOptions()
            )
            _ = try await S3Upload.begun(file, 5 << 20, adapter.connection)
        }
        let keys = ["a +ü", "b/c"].map { adapter.configuration.root.string + "/" + $0 }
        #expect(try await adapter.incompleteUploads().map(\.key) == keys)
        #expect(try await adapter.abortIncompleteUploads(olderThan: .seconds(3600)) == 0)
        #expect(try await adapter.abortIncompleteUploads(olderThan: .zero) == 2)
        #expect(try await adapter.incompleteUploads().isEmpty)
    }

    // MARK: Copies

    /// Returns an adapter that copies larger files than 5 MiB in parts.
    private func copying(on peer: S3Peer) throws -> S3FileStoreAdapter {
        try S3FileStoreAdapter(
            peer.configuration(freshFolder()),
            transport: peer.transport,
            clock: ContinuousClock(),
            copyByteCount: 5 << 20,
            now: { Date() }
        )
    }

    @Test("A file that is too large for one request is copied in parts")
    func largeCopy() async throws {
        let adapter = try copying(on: S3Peer.shared(.moto))
        let files = FileStore(adapter)
        let bytes = sampleBytes(9, count: (11 << 20) + 5)
        let options = FileWriteOptions(contentType: "text/x", attributes: ["a": "ü"])
        try await files.write(FileContent(bytes), to: "a b", options: options)
        let copy = try await files.copy("a b", to: "c", if: .absent)
        #expect(copy.contentType == "text/x")
        #expect(copy.attributes == ["a": "ü"])
        #expect(try await Array(files.read("c")) == bytes)
        let moved = try await files.move("c", to: "d")
        #expect(moved.size == bytes.count)
        #expect(try await files.list().files.map(\.path.string) == ["a b", "d"])
        #expect(try await adapter.incompleteUploads().isEmpty)
    }

    @Test("A server that creates empty parts when copying is detected")
    func silentPartCopy() async throws {
        // rclone treats UploadPartCopy as UploadPart without a body.
        let adapter = try copying(on: S3Peer.shared(.rclone))
        let files = FileStore(adapter)
        try await files.write(FileContent(sampleBytes(9, count: 6 << 20)), to: "a")
        await expectError(FileStoreError.self, .invalidReply) { try await files.copy("a", to: "b") }
        #expect(try await files.exists("b") == false)
        #expect(try await adapter.incompleteUploads().isEmpty)
    }

    // MARK: Names

    @Test(
        "Names of every kind are kept, listed and signed",
        arguments: [S3Peer.Kind.moto, .rclone]
    )
    func names(_ kind: S3Peer.Kind) async throws {
        let files = FileStore(try S3Peer.shared(kind).adapter("\(freshFolder()) ü+"))
        let names = [
            "with space", "ümläut", "日本語", "emoji 🦊", "a%2Fb", "a+b&c=d", "-dash", "~", "#?*",
            ".hidden", "...", "quote\"'", "back\\slash", "tab\t", "a:b", "<&>",
            "\u{301}accent/\u{301}behind",
        ]
        for name in names {
            try await files.write(Data(name.utf8), to: try FileStorePath("f ü/" + name))
        }
        var listed: [String] = []
        for try await file in files.files(in: "f ü", pageSize: 4) {
            listed.append(String(file.path.string.unicodeScalars.dropFirst(4)))
        }
        #expect(listed == names.sorted { $0.utf8.lexicographicallyPrecedes($1.utf8) })
        for name in names {
            let path = try FileStorePath("f ü/" + name)
            #expect(try await files.read(path) == Data(name.utf8))
            let copy = try await files.copy(path, to: "copy")
            #expect(copy.size == name.utf8.count)
        }
    }

    // MARK: Credentials

    @Test(
        "A wrong secret and an unknown key are refused",
        arguments: [S3Peer.Kind.signedMoto, .rclone]
    )
    func wrongSecrets(_ kind: S3Peer.Kind) async throws {
        let peer = try S3Peer.shared(kind)
        let wrong = AWSCredentials(
            accessKeyID: peer.credentials.accessKeyID,
            secretAccessKey: "wrong"
        )
        let unknown = AWSCredentials(accessKeyID: "AKIDNOBODY", secretAccessKey: "wrong")
        for credentials in [wrong, unknown] {
            let files = FileStore(try peer.adapter(freshFolder()) { $0.credentials = credentials })
            let calls: [() async throws -> Void] = [
                { try await files.write(Data("x".utf8), to: "a") },
                { _ = try await files.read("a") },
                { _ = try await files.metadata(of: "a") },
                { try await files.delete("a") },
                { _ = try await files.list() },
                { try await files.copy("a", to: "b") },
            ]
            for call in calls {
                let error = await expectError(FileStoreError.self, .credentialsRefused) {
                    try await call()
                }
                #expect(error.map { "\($0)" }?.contains("wrong") == false)
            }
        }
    }

    @Test(
        "A missing bucket is reported",
        arguments: S3Peer.Kind.allCases.filter { $0 != .services }
    )
    func missingBucket(_ kind: S3Peer.Kind) async throws {
        let files = FileStore(
            try S3Peer.shared(kind).adapter(.root) { $0.bucket = "no-such-bucket" }
        )
        for call in [
            { try await files.write(Data("x".utf8), to: "a") as Any },
            { try await files.list() as Any },
        ] as [() async throws -> Any] {
            await expectError(FileStoreError.self, .bucketNotFound) { _ = try await call() }
        }
    }

    // moto does not verify signatures of URLs, and fails on URLs when it verifies headers.
    @Test("A presigned URL works without credentials", arguments: [S3Peer.Kind.moto, .rclone])
    func presigned(_ kind: S3Peer.Kind) async throws {
        let peer = try S3Peer.shared(kind)
        let adapter = try peer.adapter(freshFolder())
        let path: FileStorePath = "a b.txt"
        let put = try await adapter.presignedURL(for: path, to: .put, expiresIn: .seconds(3600))
        let get = try await adapter.presignedURL(for: path, to: .get, expiresIn: .seconds(3600))
        func send(_ method: HTTPRequest.Method, _ url: URL, _ body: String?) async throws -> (
            Int, String
        ) {
            let call = HTTPCall(
                HTTPRequest(method: method, url: url),
                body: body.map { HTTPBody(Array($0.utf8)) }
            )
            let reply = try await peer.transport.send(call)
            let bytes = try await reply.body.collect(upTo: 1 << 20)
            return (reply.head.status.code, String(decoding: bytes, as: UTF8.self))
        }
        #expect(try await send(.put, put, "hello").0 == 200)
        #expect(try await FileStore(adapter).read(path) == Data("hello".utf8))
        #expect(try await send(.get, get, nil) == (200, "hello"))
        guard kind == .rclone else { return }
        // A URL for another operation or with changes is refused.
        #expect(try await send(.put, get, "other").0 == 403)
        let forged = try #require(URL(string: get.absoluteString.dropLast() + "0"))
        let forgedToo = try #require(URL(string: get.absoluteString.dropLast() + "1"))
        let codes = [try await send(.get, forged, nil).0, try await send(.get, forgedToo, nil).0]
        #expect(codes.contains(403))
        #expect(try await FileStore(adapter).read(path) == Data("hello".utf8))
        for duration in [Duration.zero, .seconds(604_801)] {
            await expectError(FileStoreError.self, .invalidArgument) {
                try await adapter.presignedURL(for: path, to: .get, expiresIn: duration)
            }
        }
    }

    // MARK: Limits

    @Test("Streaming uses memory for the parts in flight and one more, whatever the length")
    func boundedMemory() async throws {
        let peer = try S3Peer.shared(.rclone)
        let adapter = try peer.adapter(freshFolder(), smallParts)
        let gauge = Gauge()
        let count = 96
        let content = FileContent(length: nil, isReplayable: false) { () throws(FileStoreError) in
            let counter = PieceCounter()
            return FileReader { () async throws(FileStoreError) in
                let number = counter.next()
                guard number < count else { return nil }
                gauge.read(Self.megabyte)
                return sampleBytes(number, count: Self.megabyte)
            }
        }
        var configuration = adapter.configuration
        configuration.root = freshFolder()
        let counted = try S3FileStoreAdapter(
            configuration,
            transport: GaugedTransport(upstream: peer.transport, gauge: gauge)
        )
        let metadata = try await FileStore(counted).write(content, to: "long")
        #expect(metadata.size == count * Self.megabyte)
        // Three parts in transit, one being filled, and a piece.
        #expect(gauge.most <= 4 * (5 << 20) + 2 * Self.megabyte)
        // The gauge sees what is sent: at least one part, whether or not two were in transit at once.
        #expect(gauge.most >= 5 << 20)
        let reading = try await FileStore(counted).open("long")
        var position = 0
        var expected = sampleBytes(0, count: Self.megabyte)
        for try await piece in reading.content {
            for byte in piece {
                if position % Self.megabyte == 0 {
                    expected = sampleBytes(position / Self.megabyte, count: Self.megabyte)
                }
                guard byte == expected[position % Self.megabyte]
                else { return fail("another byte at \(position)") }
                position += 1
            }
        }
        #expect(position == count * Self.megabyte)
    }
}
#endif
