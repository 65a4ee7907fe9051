#if WebSocket
import KeelTestKit
import KeelTestSupport
import KeelWebSocket
import Synchronization
import Testing

@testable import KeelWebSocketNIO

@Suite("Any input ends in a message, an error or a close")
struct FuzzTests {
    private static func seed() -> UInt64 { UInt64.random(in: 1...9_999_999_999) }

    /// Returns the events of a receiver for bytes that arrive in pieces.
    private func events(
        of pieces: [[UInt8]],
        deflate: Bool
    ) -> (events: [ReceivedEvent], violation: Violation?) {
        var configuration = WebSocketConfiguration()
        configuration.maximumMessageSize = 100_000
        configuration.maximumFrameSize = 100_000
        let inflater = Inflater(windowBits: 15, forgetsContext: false, maximumRatio: nil)
        var receiver = FrameReceiver(configuration, inflater: deflate ? inflater : nil)
        var events: [ReceivedEvent] = []
        do throws(Violation) {
            for piece in pieces {
                piece.withUnsafeBytes { receiver.append($0) }
                while let event = try receiver.next() { events.append(event) }
            }
            return (events, nil)
        } catch { return (events, error) }
    }

    /// Returns a valid stream of random frames.
    private func stream(deflate: Bool, using generator: inout SeededRandom) -> [UInt8] {
        let deflater = Deflater(windowBits: 15, forgetsContext: false, level: 6)
        var frames: [Frame] = []
        for _ in 0..<Int.random(in: 1...8, using: &generator) {
            let isText = generator.next() % 2 == 0
            let length = Int.random(in: 0...300, using: &generator)
            var payload = isText ? Array(generator.text(length / 4).utf8) : generator.bytes(length)
            let isCompressed = deflate && generator.next() % 2 == 0
            if isCompressed { payload = payload.withUnsafeBytes { deflater.deflate($0) } }
            let cut = Int.random(in: 0...payload.count, using: &generator)
            frames.append(
                Frame(
                    opcode: isText ? 1 : 2,
                    payload: Array(payload[..<cut]),
                    isFinal: false,
                    reserved: isCompressed ? 4 : 0
                )
            )
            if generator.next() % 3 == 0 { frames.append(.ping(generator.bytes(cut % 126))) }
            frames.append(.more(Array(payload[cut...])))
        }
        if generator.next() % 2 == 0 { frames.append(.close(4000, Array("bye".utf8))) }
        return frames.flatMap(\.bytes)
    }

    @Test("Events are the same wherever the bytes are split", arguments: [false, true])
    func cuts(_ deflate: Bool) {
        let seed = Self.seed()
        var generator = SeededRandom(seed: seed)
        for _ in 0..<10 {
            let bytes = stream(deflate: deflate, using: &generator)
            let whole = events(of: [bytes], deflate: deflate)
            #expect(whole.violation == nil, "seed \(seed)")
            #expect(!whole.events.isEmpty, "seed \(seed)")
            for cut in 0...bytes.count {
                let parts = events(
                    of: [Array(bytes[..<cut]), Array(bytes[cut...])],
                    deflate: deflate
                )
                #expect(parts.events == whole.events, "seed \(seed), cut at \(cut)")
            }
            let single = events(of: bytes.map { [$0] }, deflate: deflate)
            #expect(single.events == whole.events, "seed \(seed)")
        }
    }

    @Test("Violations are the same wherever the bytes are split")
    func cutViolations() {
        for row in WireCase.all where row.bytes.count < 700 {
            let whole = events(of: [row.bytes], deflate: false)
            let single = events(of: row.bytes.map { [$0] }, deflate: false)
            #expect(single.events == whole.events, "\(row.testDescription)")
            #expect(single.violation == whole.violation, "\(row.testDescription)")
        }
    }

    @Test("Random and damaged bytes never break the receiver", arguments: [false, true])
    func damage(_ deflate: Bool) {
        let seed = Self.seed()
        var generator = SeededRandom(seed: seed)
        var violations = 0
        for round in 0..<20_000 {
            var bytes: [UInt8]
            if round % 4 == 0 {
                bytes = generator.bytes(Int.random(in: 0...200, using: &generator))
            } else {
                bytes = stream(deflate: deflate, using: &generator)
                for _ in 0..<Int.random(in: 1...3, using: &generator) {
                    let place = Int.random(in: 0..<bytes.count, using: &generator)
                    bytes[place] = UInt8(truncatingIfNeeded: generator.next())
                }
                if round % 3 == 0 { bytes.removeLast(bytes.count / 3) }
            }
            let result = events(of: [bytes], deflate: deflate)
            let closes = result.events.filter { if case .close = $0 { true } else { false } }
            if closes.count > 1 || (closes.count == 1 && result.violation != nil) {
                Issue.record("an event after the end, seed \(seed), round \(round)")
            }
            if result.violation != nil { violations += 1 }
        }
        #expect(violations > 5000, "seed \(seed)")
    }

    @Test("A server that sends random bytes and hangs up causes a typed error or a close")
    func randomServer() async throws {
        let seed = Self.seed()
        let round = Counter()
        let ends = Mutex<[WebSocketError.Code?]>([])
        try await RawServer.run { peer in
            let number = UInt64(round.next())
            var generator = SeededRandom(seed: seed &+ number)
            try await peer.upgrade(
                number % 2 == 0 ? [] : ["Sec-WebSocket-Extensions: permessage-deflate"]
            )
            try await peer.write(generator.bytes(Int.random(in: 0...300, using: &generator)))
        } while: { port in
            for _ in 0..<200 {
                let error = try await failure {
                    try await NIOWebSocketTransport().withConnection(
                        to: request(port),
                        configuration: configuration { $0.deflate = WebSocketDeflate() }
                    ) { connection in
                        for try await _ in connection.messages {}
                    }
                }
                ends.withLock { $0.append(error?.code) }
            }
        }
        let codes = ends.withLock { Set($0) }
        #expect(ends.withLock { $0.count } == 200)
        #expect(codes.contains(.protocolViolation), "seed \(seed)")
        #expect(!codes.contains(.unknown), "seed \(seed)")
    }
}
#endif
