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

@Suite("Objects read by several requests", .timeLimit(.minutes(5)))
struct ParallelReadingTests {
    private static let part = S3FileStoreAdapter.Configuration.minimumPartByteCount
    private static let bytes = sampleBytes(3, count: 5 * part + 4321)

    private static func files(_ server: RangeServer, limit: Int = 3) throws -> FileStore {
        let answer = ScriptedHTTPTransport.Answer { (call) async throws(TransportError) in
            try server.reply(to: call)
        }
        return FileStore(
            try s3Adapter(ScriptedHTTPTransport(then: answer)) { configuration in
                configuration.partByteCount = part
                configuration.maximumConcurrentParts = limit
            }
        )
    }

    @Test("Each byte is sent once, and at most the given number of requests are open at a time")
    func withoutFaults() async throws {
        for limit in 2...4 {
            let server = RangeServer(Self.bytes)
            #expect(try await Self.files(server, limit: limit).read("a") == Data(Self.bytes))
            #expect(server.report.mostOpen <= limit)
            #expect(server.report.mostOpen > 1)
            #expect(server.report.open == 0)
            // The first request names no range, and its reply is not read beyond the first part.
            let starts = server.report.ranges.map(\.lowerBound).sorted()
            #expect(starts == (0...5).map { $0 * Self.part })
            #expect(server.report.sentByteCount < Self.bytes.count + RangeServer.piece)
        }
    }

    @Test("A range of more than two parts is read in parts, and a shorter one with one request")
    func ranges() async throws {
        let server = RangeServer(Self.bytes)
        let files = try Self.files(server)
        let long = 77..<77 + 3 * Self.part
        #expect(
            try await files.read("a", range: .bytes(long.lowerBound, count: long.count))
                == Data(Self.bytes[long])
        )
        #expect(server.report.ranges.count == 3)
        let short = 9..<9 + 2 * Self.part
        #expect(
            try await files.read("a", range: .bytes(short.lowerBound, count: short.count))
                == Data(Self.bytes[short])
        )
        #expect(server.report.ranges.count == 4)
        #expect(try await Self.files(server, limit: 1).read("a") == Data(Self.bytes))
        #expect(server.report.ranges.count == 5)
    }

    @Test("Lost connections, in any part, neither lose nor repeat bytes", arguments: 0..<4)
    func lostConnections(_ number: UInt64) async throws {
        let seed = SeededRandom.chosenSeed() &+ number
        let server = RangeServer(Self.bytes, losing: 3, seed: seed)
        let data = try await Self.files(server).read("a")
        #expect(data == Data(Self.bytes), "KEEL_SEED=\(seed)")
        #expect(server.report.lostCount == 3, "KEEL_SEED=\(seed)")
        #expect(server.report.open == 0, "KEEL_SEED=\(seed)")
    }

    @Test("A part that changes meanwhile fails the reading, whichever part finds it")
    func changed() async throws {
        for request in 1...5 {
            let server = RangeServer(Self.bytes, changingAfter: request)
            await expectError(FileStoreError.self, .conditionFailed) {
                try await Self.files(server).read("a")
            }
            #expect(server.report.open == 0)
        }
    }

    @Test("The checksum of the whole object is verified")
    func checksum() async throws {
        let checksum = try FileChecksum.of(Self.bytes, by: .crc32c)
        let good = RangeServer(Self.bytes, checksum: checksum)
        #expect(try await Self.files(good).read("a").count == Self.bytes.count)
        var damaged = Self.bytes
        damaged[4 * Self.part] ^= 1
        let bad = RangeServer(damaged, checksum: checksum)
        await expectError(FileStoreError.self, .damaged) { try await Self.files(bad).read("a") }
    }

    @Test("A reading that is dropped or cancelled ends its requests")
    func dropped() async throws {
        let server = RangeServer(Self.bytes)
        let files = try Self.files(server)
        do {
            let reading = try await files.open("a")
            var pieces = reading.content.makeAsyncIterator()
            _ = try await pieces.next()
        }
        try await waitUntil { server.report.open == 0 }
        let stuck = RangeServer(Self.bytes, stallsAfterFirst: true)
        let reader = Task { try await Self.files(stuck).read("a") }
        // One more than the limit: the first part has been read to its end.
        try await waitUntil { stuck.report.ranges.count == 4 }
        reader.cancel()
        await #expect(throws: FileStoreError.self) { try await reader.value }
        try await waitUntil { stuck.report.open == 0 }
    }
}

/// A server with one object, which answers requests for ranges.
private final class RangeServer: Sendable {
    /// The bytes of one chunk.
    static let piece = 500_000

    struct Report {
        var ranges: [Range<Int>] = []
        var open = 0
        var mostOpen = 0
        var sentByteCount = 0
        var lostCount = 0
    }

    private struct State {
        var report = Report()
        var readCount = 0
        /// The numbers of the reads that lose their connection.
        let lostReads: Set<Int>
    }

    /// A reply whose body has a reader.
    private final class Body: Sendable {
        let server: RangeServer
        let rest: Mutex<Range<Int>>

        init(_ server: RangeServer, _ range: Range<Int>) {
            self.server = server
            rest = Mutex(range)
            server.state.withLock { state in
                state.report.open += 1
                state.report.mostOpen = max(state.report.mostOpen, state.report.open)
            }
        }

        deinit { server.state.withLock { $0.report.open -= 1 } }
    }

    private let bytes: [UInt8]
    private let checksum: FileChecksum?
    private let changesAfter: Int
    private let stallsAfterFirst: Bool
    private let state: Mutex<State>

    init(
        _ bytes: [UInt8],
        losing count: Int = 0,
        seed: UInt64 = 1,
        changingAfter request: Int = .max,
        stallsAfterFirst: Bool = false,
        checksum: FileChecksum? = nil
    ) {
        self.bytes = bytes
        self.checksum = checksum
        self.stallsAfterFirst = stallsAfterFirst
        changesAfter = request
        var random = SeededRandom(seed: seed)
        // A reading of the whole object has more reads than these.
        let lostReads = (0..<50).shuffled(using: &random).prefix(count)
        state = Mutex(State(lostReads: Set(lostReads)))
    }

    var report: Report { state.withLock { $0.report } }

    func reply(to call: ScriptedHTTPTransport.Call) throws(TransportError) -> HTTPReply {
        let field = call.head.headerFields[.range]
        var range = 0..<bytes.count
        if let numbers = field?.dropFirst("bytes=".count).split(separator: "-").compactMap({
            Int($0)
        }) {
            range = numbers[0]..<(numbers.count > 1 ? numbers[1] + 1 : bytes.count)
        }
        let number = state.withLock { state in
            state.report.ranges.append(range)
            return state.report.ranges.count
        }
        var head = HTTPResponse(status: field == nil ? .ok : .partialContent)
        if number > changesAfter {
            head.status = .preconditionFailed
            let text = "<Error><Code>PreconditionFailed</Code></Error>"
            return HTTPReply(head: head, body: .chunks([Array(text.utf8)]))
        }
        head.headerFields[.eTag] = "\"e1\""
        head.headerFields[.contentLength] = "\(range.count)"
        head.headerFields[.lastModified] = "Fri, 15 Jan 2027 08:00:00 GMT"
        if field != nil {
            let last = range.upperBound - 1
            head.headerFields[.contentRange] = "bytes \(range.lowerBound)-\(last)/\(bytes.count)"
        }
        if let checksum, field == nil, let name = HTTPField.Name("x-amz-checksum-crc32c") {
            head.headerFields[name] = Data(checksum.bytes).base64EncodedString()
        }
        let body = Body(self, range)
        return HTTPReply(
            head: head,
            body: HTTPByteStream { () async throws(TransportError) in
                try await self.next(of: body, isFirst: number == 1)
            }
        )
    }

    private func next(
        of body: Body,
        isFirst: Bool
    ) async throws(TransportError) -> ArraySlice<UInt8>? {
        if stallsAfterFirst, !isFirst {
            // Stalls until the reader cancels the request; the test's time limit ends it otherwise.
            try? await Task.sleep(for: .seconds(600))
            throw TransportError(.cancelled)
        }
        await Task.yield()
        let isLost = state.withLock { state in
            defer { state.readCount += 1 }
            guard state.lostReads.contains(state.readCount) else { return false }
            state.report.lostCount += 1
            return true
        }
        if isLost { throw TransportError(.connectionLost, phase: .readBody) }
        let piece = body.rest.withLock { rest in
            let piece = rest.prefix(Self.piece)
            rest = piece.upperBound..<rest.upperBound
            return piece
        }
        state.withLock { $0.report.sentByteCount += piece.count }
        return piece.isEmpty ? nil : bytes[piece]
    }
}
#endif
