#if WebSocket
import KeelTestKit
import KeelWebSocket
import Testing

@testable import KeelWebSocketNIO

@Suite("Compression (RFC 7692)")
struct DeflateTests {
    private func inflate(_ payloads: [[UInt8]], limit: Int = 1 << 20, ratio: Int? = nil)
        throws(Violation) -> [WebSocketMessage]
    {
        var configuration = WebSocketConfiguration()
        configuration.maximumMessageSize = limit
        var receiver = FrameReceiver(
            configuration,
            inflater: Inflater(windowBits: 15, forgetsContext: false, maximumRatio: ratio)
        )
        for payload in payloads {
            let frame = Frame(opcode: 1, payload: payload, reserved: 4)
            frame.bytes.withUnsafeBytes { receiver.append($0) }
        }
        var messages: [WebSocketMessage] = []
        while let event = try receiver.next() {
            if case .message(let message) = event { messages.append(message) }
        }
        return messages
    }

    @Test("The examples of RFC 7692 section 7.2.3 are decompressed")
    func examples() throws {
        let plain: [UInt8] = [0xf2, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00]
        let hello = WebSocketMessage.text("Hello")
        #expect(try inflate([plain]) == [hello])
        #expect(try inflate([plain, [0xf2, 0x00, 0x11, 0x00, 0x00]]) == [hello, hello])
        #expect(
            try inflate([[0x00, 0x05, 0x00, 0xfa, 0xff, 0x48, 0x65, 0x6c, 0x6c, 0x6f, 0x00]]) == [
                hello
            ]
        )
        let final: [UInt8] = [0xf3, 0x48, 0xcd, 0xc9, 0xc9, 0x07, 0x00, 0x00]
        #expect(try inflate([final]) == [hello])
        #expect(
            try inflate([
                [0xf2, 0x48, 0x05, 0x00, 0x00, 0x00, 0xff, 0xff, 0xca, 0xc9, 0xc9, 0x07, 0x00]
            ])
                == [hello]
        )
        #expect(try inflate([[0x00]]) == [.text("")])
        // The window outlives a block marked as the last.
        #expect(try inflate([final, [0xf2, 0x00, 0x11, 0x00, 0x00]]) == [hello, hello])
    }

    @Test("Invalid deflate data is rejected")
    func corrupt() {
        #expect(throws: Violation.self) { try inflate([[0xff, 0xff, 0xff]]) }
        #expect(throws: Violation.self) { try inflate([[0x06]]) }
        // A distance beyond the data sent so far.
        #expect(throws: Violation.self) { try inflate([[0xf2, 0x00, 0x11, 0x00, 0x00]]) }
    }

    @Test(
        "Data compressed by one side is decompressed by the other",
        arguments: WebSocketDeflate.windows,
        [false, true]
    )
    func roundTrip(_ window: Int, _ forgets: Bool) throws {
        let seed = UInt64.random(in: 1...9_999_999)
        var generator = SeededRandom(seed: seed)
        for level in [1, 6, 9] {
            let deflater = Deflater(windowBits: window, forgetsContext: forgets, level: level)
            let inflater = Inflater(windowBits: window, forgetsContext: forgets, maximumRatio: nil)
            for length in [
                0, 1, 2, 5, 63, 64, 255, 256, 257, 300, 511, 1000, 4096, 65_536, 200_000, 0,
            ] {
                var message = generator.bytes(length)
                // Repetitions at all distances, to use the whole window.
                for index in message.indices where index > 0 && generator.next() % 4 != 0 {
                    message[index] =
                        message[Int.random(in: max(0, index - 40_000)..<index, using: &generator)]
                }
                if length > 1000 { message += message.prefix(length / 2) }
                let compressed = message.withUnsafeBytes { deflater.deflate($0) }
                var result: [UInt8] = []
                try compressed.withUnsafeBytes { bytes in
                    try inflater.inflate(bytes) { (piece) throws(Violation) in result += piece }
                }
                try inflater.finishMessage { (piece) throws(Violation) in result += piece }
                try #require(result == message, "seed \(seed), \(length) bytes")
            }
        }
    }

    @Test("A decompression bomb is rejected at the limit")
    func bomb() {
        let deflater = Deflater(windowBits: 15, forgetsContext: false, level: 9)
        var bomb: [UInt8] = []
        let zeros = [UInt8](repeating: 0, count: 1 << 20)
        for _ in 0..<256 {
            bomb += zeros.withUnsafeBytes { deflater.deflate($0) } + [0, 0, 0xff, 0xff]
        }
        bomb.removeLast(4)
        let error = #expect(throws: Violation.self) { try inflate([bomb], limit: 1 << 20) }
        #expect(error?.code == .messageTooLarge)
        #expect(error?.closeCode == .messageTooBig)
    }

    @Test("The compression ratio of a message can be limited")
    func ratio() throws {
        let deflater = Deflater(windowBits: 15, forgetsContext: true, level: 9)
        let zeros = [UInt8](repeating: 48, count: 200_000)
        let compressed = zeros.withUnsafeBytes { deflater.deflate($0) }
        #expect(try inflate([compressed]).first?.byteCount == 200_000)
        #expect(throws: Violation.self) { try inflate([compressed], ratio: 100) }
        let small = zeros[..<60_000].withUnsafeBytes { deflater.deflate($0) }
        #expect(try inflate([small], ratio: 100).first?.byteCount == 60_000)
    }

    @Test("A compressed message may arrive in fragments with pings between them")
    func fragments() throws {
        let text = String(repeating: "Keel ", count: 100)
        let deflater = Deflater(windowBits: 15, forgetsContext: false, level: 6)
        let bytes = Array(text.utf8).withUnsafeBytes { deflater.deflate($0) }
        for split in 0...bytes.count {
            var receiver = FrameReceiver(
                WebSocketConfiguration(),
                inflater: Inflater(windowBits: 15, forgetsContext: false, maximumRatio: nil)
            )
            let frames = [
                Frame(opcode: 1, payload: Array(bytes[..<split]), isFinal: false, reserved: 4),
                .ping([1]), .more(Array(bytes[split...])), .text("plain"),
            ]
            frames.flatMap(\.bytes).withUnsafeBytes { receiver.append($0) }
            #expect(try receiver.next() == .ping([1]))
            #expect(try receiver.next() == .message(.text(text)))
            #expect(try receiver.next() == .message(.text("plain")))
        }
    }

    @Test("Invalid text in compressed data is detected")
    func badText() {
        let deflater = Deflater(windowBits: 15, forgetsContext: false, level: 6)
        let bytes = [0x61, 0xff, 0x62].withUnsafeBytes { _ in
            ([0x61, 0xff, 0x62] as [UInt8]).withUnsafeBytes { deflater.deflate($0) }
        }
        let error = #expect(throws: Violation.self) { try inflate([bytes]) }
        #expect(error?.code == .invalidUTF8)
    }

    @Test(
        "RSV1 is allowed only on the first frame of a message",
        arguments: [
            [Frame(opcode: 9, payload: [], reserved: 4)],
            [Frame(opcode: 8, payload: [], reserved: 4)],
            [
                Frame(opcode: 1, payload: [], isFinal: false, reserved: 4),
                Frame(opcode: 0, payload: [0], reserved: 4),
            ],
            [
                Frame(opcode: 1, payload: [], isFinal: false),
                Frame(opcode: 0, payload: [0], reserved: 4),
            ],
            [Frame(opcode: 1, payload: [], reserved: 2)],
            [Frame(opcode: 1, payload: [], reserved: 5)],
        ]
    )
    func bits(_ frames: [Frame]) {
        var receiver = FrameReceiver(
            WebSocketConfiguration(),
            inflater: Inflater(windowBits: 15, forgetsContext: false, maximumRatio: nil)
        )
        frames.flatMap(\.bytes).withUnsafeBytes { receiver.append($0) }
        #expect(throws: Violation.self) { while try receiver.next() != nil {} }
    }

    /// An offer, its answer, and the outcome: both windows, and whether contexts are reset.
    struct Negotiation: Sendable, CustomTestStringConvertible {
        let answer: String
        var offer = WebSocketDeflate()
        var agreed: DeflateAgreement?
        var testDescription: String { "\(answer) to \(offer.offer)" }

        init(
            _ answer: String,
            _ agreed: (client: Int, server: Int, clientForgets: Bool, serverForgets: Bool)?,
            _ change: (inout WebSocketDeflate) -> Void = { _ in }
        ) {
            self.answer = answer
            change(&offer)
            self.agreed = agreed.flatMap { agreed in
                var agreement = try? DeflateAgreement(.init(name: "", parameters: []), to: .init())
                agreement?.clientWindowBits = agreed.client
                agreement?.serverWindowBits = agreed.server
                agreement?.clientNoContextTakeover = agreed.clientForgets
                agreement?.serverNoContextTakeover = agreed.serverForgets
                return agreement
            }
        }
    }

    static let negotiations: [Negotiation] =
        [
            Negotiation("", (15, 15, false, false)),
            Negotiation("; server_no_context_takeover", (15, 15, false, true)),
            Negotiation("; client_no_context_takeover", (15, 15, true, false)),
            Negotiation(
                "; client_no_context_takeover; server_no_context_takeover",
                (15, 15, true, true)
            ),
            Negotiation(
                "; server_max_window_bits=10; client_max_window_bits=9",
                (9, 10, false, false)
            ),
            Negotiation("", (15, 15, true, false)) { $0.clientNoContextTakeover = true },
            Negotiation("", nil) { $0.serverNoContextTakeover = true },
            Negotiation("; server_no_context_takeover", (15, 15, false, true)) {
                $0.serverNoContextTakeover = true
            },
            Negotiation("", nil) { $0.serverWindowBits = 10 },
            Negotiation("; server_max_window_bits=10", (15, 10, false, false)) {
                $0.serverWindowBits = 10
            },
            Negotiation("; server_max_window_bits=9", (15, 9, false, false)) {
                $0.serverWindowBits = 10
            },
            Negotiation("; server_max_window_bits=11", nil) { $0.serverWindowBits = 10 },
            Negotiation("", (10, 15, false, false)) { $0.clientWindowBits = 10 },
            Negotiation("; client_max_window_bits=8", (8, 15, false, false)) {
                $0.clientWindowBits = 10
            },
            Negotiation("; client_max_window_bits=11", nil) { $0.clientWindowBits = 10 },
            Negotiation("; server_no_context_takeover=1", nil),
            Negotiation("; client_no_context_takeover=true", nil),
            Negotiation("; client_max_window_bits", nil),
            Negotiation("; server_max_window_bits", nil),
            Negotiation("; server_max_window_bits=10; server_max_window_bits=10", nil),
            Negotiation("; server_no_context_takeover; server_no_context_takeover", nil),
            Negotiation("; Server_No_Context_Takeover", nil),
            Negotiation("; unknown", nil),
        ]
        + ["7", "16", "0", "-9", "+9", "09", "9.0", "x", "99999999999999999999"].flatMap { value in
            [
                Negotiation("; server_max_window_bits=\(value)", nil),
                Negotiation("; client_max_window_bits=\(value)", nil),
            ]
        }
        + (8...15).map { window in
            Negotiation(
                "; server_max_window_bits=\(window); client_max_window_bits=\"\(window)\"",
                (window, window, false, false)
            )
        }

    @Test("An answer is accepted only if it matches the offer", arguments: negotiations)
    func negotiation(_ row: Negotiation) throws {
        let headers = try #require(ExtensionHeader.parse(["permessage-deflate\(row.answer)"]))
        let answer = try #require(headers.first)
        if let agreed = row.agreed {
            #expect(try DeflateAgreement(answer, to: row.offer) == agreed)
        } else {
            #expect(throws: AnswerFlaw.self) { try DeflateAgreement(answer, to: row.offer) }
        }
    }

    @Test(
        "Lists of extensions are parsed as RFC 6455 section 9.1 specifies",
        arguments: [
            ("", 0), ("a", 1), ("a, b", 2), ("a,b;c", 2), (",a,,b,", 2), (" a ; b = c , d", 2),
            ("a; b=\"c\"", 1), ("a; b=\"\\c\"", 1), ("a; b=\"\"", nil), ("a;", nil), ("a; b=", nil),
            ("a b", nil), ("a; b=\"c", nil), ("a; b=\"c d\"", nil), ("=", nil), ("a;;b", nil),
        ] as [(String, Int?)]
    )
    func lists(_ text: String, _ count: Int?) {
        #expect(ExtensionHeader.parse([text])?.count == count)
    }
}
#endif
