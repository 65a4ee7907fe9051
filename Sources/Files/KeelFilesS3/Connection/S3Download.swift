#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP
internal import Synchronization

/// The bytes of an object, or of a part of it, read on demand.
///
/// If the connection is lost, a new request continues with the same version. The bytes of a whole object are compared
/// with its checksum if the server has provided one.
struct S3Download: Sendable {
    private let adapter: S3FileStoreAdapter
    private let path: FileStorePath
    private let metadata: FileMetadata
    private let range: Range<Int>
    /// The reply that has already begun, for the first reader.
    private let first: FirstReply

    init(_ adapter: S3FileStoreAdapter, _ path: FileStorePath, _ begun: S3FileStoreAdapter.Begun) {
        self.adapter = adapter
        self.path = path
        metadata = begun.metadata
        range = begun.range
        first = FirstReply(begun.reply)
    }

    private init(_ whole: S3Download, _ range: Range<Int>) {
        adapter = whole.adapter
        path = whole.path
        metadata = whole.metadata
        self.range = range
        first = FirstReply(nil)
    }

    var content: FileContent {
        FileContent(length: range.count, isReplayable: true) { () async throws(FileStoreError) in
            try await reader()
        }
    }

    private func reader() async throws(FileStoreError) -> FileReader {
        guard !range.isEmpty else { return FileReader(pieces: []) }
        // If the object changes before a second reading, that reading fails.
        let reply = first.take()
        let partByteCount = adapter.configuration.partByteCount
        guard adapter.configuration.maximumConcurrentParts > 1, range.count > 2 * partByteCount
        else { return reader(reply, isCut: false, hash: try hash()) }
        let start = range.lowerBound..<range.lowerBound + partByteCount
        let reading = S3ParallelReading(
            S3Download(self, start).reader(reply, isCut: true, hash: nil),
            rest: stride(from: start.upperBound, to: range.upperBound, by: partByteCount).map {
                S3Download(self, $0..<min($0 + partByteCount, range.upperBound))
            },
            limit: adapter.configuration.maximumConcurrentParts,
            hash: try hash()
        )
        return FileReader { () async throws(FileStoreError) in
            guard let piece = try await reading.next() else {
                try check(reading.checksum)
                return nil
            }
            return piece
        }
    }

    /// Returns a reader with one request at a time; `isCut` if the reply has more bytes than the range, which are not
    /// read.
    private func reader(_ reply: HTTPReply?, isCut: Bool, hash: FileHash?) -> FileReader {
        let reading = S3BodyReading(reply, expected: range.count, isCut: isCut, hash: hash)
        return FileReader { () async throws(FileStoreError) in try await next(of: reading) }
    }

    func pieces() async throws(FileStoreError) -> [[UInt8]] {
        let reader = reader(nil, isCut: false, hash: nil)
        var pieces: [[UInt8]] = []
        while let piece = try await reader.next() { pieces.append(piece) }
        return pieces
    }

    private func hash() throws(FileStoreError) -> FileHash? {
        guard range == 0..<metadata.size, let checksum = metadata.checksum else { return nil }
        return try FileHash(checksum.algorithm)
    }

    private func next(of reading: S3BodyReading) async throws(FileStoreError) -> [UInt8]? {
        var failures = 0
        while true {
            try FileStoreError.checkCancellation()
            do throws(S3Failure) {
                if reading.needsReply { reading.resume(with: try await rest(reading.count)) }
                guard let piece = try await reading.next() else {
                    do throws(FileStoreError) {
                        try check(reading.checksum)
                    } catch {
                        throw S3Failure.failed(error)
                    }
                    return nil
                }
                return piece
            } catch {
                failures += 1
                let mayGoOn =
                    if case .unanswered(let cause) = error { cause.isTransient } else { false }
                guard mayGoOn, failures < adapter.configuration.retry.attempts else {
                    if let refusal = error.refusal, refusal.isFailedCondition || refusal.isMissing {
                        throw .changedMeanwhile(path)
                    }
                    throw error.error(of: "Reading “\(path)”")
                }
                reading.lose()
            }
        }
    }

    private func rest(_ count: Int) async throws(S3Failure) -> HTTPReply {
        let start = range.lowerBound + count
        let begun = try await adapter.get(
            path,
            "bytes=\(start)-\(range.upperBound - 1)",
            metadata.version
        )
        guard begun.metadata.version == metadata.version else {
            throw .failed(.changedMeanwhile(path))
        }
        guard let reply = begun.reply, begun.range == start..<range.upperBound else {
            throw .failed(.invalidReply("it is not the requested part of the file"))
        }
        return reply
    }

    private func check(_ found: FileChecksum?) throws(FileStoreError) {
        guard let found, let expected = metadata.checksum, found != expected else { return }
        throw FileStoreError(
            .damaged,
            "“\(path)” has the checksum \(found), but was written with \(expected)."
        )
    }
}

private final class FirstReply: Sendable {
    private let reply: Mutex<HTTPReply?>

    init(_ reply: HTTPReply?) { self.reply = Mutex(reply) }

    func take() -> HTTPReply? {
        reply.withLock { reply in
            defer { reply = nil }
            return reply
        }
    }
}

private final class S3BodyReading: Sendable {
    private struct State {
        var body: HTTPByteStream.Iterator?
        var count = 0
        var hash: FileHash?
    }

    private let expected: Int
    private let isCut: Bool
    private let state: Mutex<State>

    init(_ reply: HTTPReply?, expected: Int, isCut: Bool, hash: FileHash?) {
        self.expected = expected
        self.isCut = isCut
        state = Mutex(State(body: reply?.body.makeAsyncIterator(), hash: hash))
    }

    var count: Int { state.withLock { $0.count } }

    /// Whether bytes are missing and there is no reply to read them from.
    var needsReply: Bool { state.withLock { $0.body == nil && $0.count < expected } }

    var checksum: FileChecksum? { state.withLock { $0.hash?.checksum } }

    func resume(with reply: HTTPReply) {
        state.withLock { $0.body = reply.body.makeAsyncIterator() }
    }

    func lose() { state.withLock { $0.body = nil } }

    func next() async throws(S3Failure) -> [UInt8]? {
        guard var body = state.withLock({ $0.body }) else { return nil }
        while true {
            let slice: ArraySlice<UInt8>?
            do throws(TransportError) {
                slice = try await body.next()
            } catch {
                throw .unanswered(error)
            }
            guard let slice else { break }
            guard !slice.isEmpty else { continue }
            let missing = expected - count
            if slice.count > missing, !isCut {
                throw .failed(.invalidReply("it has more bytes than it announced"))
            }
            let piece = Array(slice.prefix(missing))
            state.withLock { state in
                state.count += piece.count
                state.hash?.update(piece)
                if isCut, state.count == expected { state.body = nil }
            }
            return piece
        }
        guard count == expected else {
            throw .unanswered(TransportError(.truncatedBody, phase: .readBody))
        }
        lose()
        return nil
    }
}
#endif
