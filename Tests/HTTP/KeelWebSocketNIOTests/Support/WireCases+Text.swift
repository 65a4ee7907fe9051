#if WebSocket
import KeelWebSocket

/// Text (The Unicode Standard, table 3-7) and closing (RFC 6455 sections 5.5.1 and 7.4).
extension WireCase {
    static let validText: [(name: String, bytes: [UInt8])] = [
        ("nothing", []),
        ("ASCII", Array("Hello".utf8)),
        ("NUL", [0]),
        ("U+007F", [0x7f]),
        ("U+0080", [0xc2, 0x80]),
        ("U+07FF", [0xdf, 0xbf]),
        ("U+0800", [0xe0, 0xa0, 0x80]),
        ("U+D7FF", [0xed, 0x9f, 0xbf]),
        ("U+E000", [0xee, 0x80, 0x80]),
        ("U+FEFF", [0xef, 0xbb, 0xbf]),
        ("U+FFFD", [0xef, 0xbf, 0xbd]),
        ("U+FFFE", [0xef, 0xbf, 0xbe]),
        ("U+FFFF", [0xef, 0xbf, 0xbf]),
        ("U+10000", [0xf0, 0x90, 0x80, 0x80]),
        ("U+1FFFF", [0xf0, 0x9f, 0xbf, 0xbf]),
        ("U+3FFFE", [0xf0, 0xbf, 0xbf, 0xbe]),
        ("U+40000", [0xf1, 0x80, 0x80, 0x80]),
        ("U+FFFFF", [0xf3, 0xbf, 0xbf, 0xbf]),
        ("U+10FFFF", [0xf4, 0x8f, 0xbf, 0xbf]),
        ("Greek", [0xce, 0xba, 0xe1, 0xbd, 0xb9, 0xcf, 0x83, 0xce, 0xbc, 0xce, 0xb5]),
        (
            "a long line with one letter of two bytes",
            Array(repeating: 97, count: 99) + [0xc3, 0xa9]
        ),
    ]

    static let invalidText: [(name: String, bytes: [UInt8])] = [
        ("a lone continuation", [0x80]),
        ("another lone continuation", [0xbf]),
        ("two lone continuations", [0x80, 0xbf]),
        ("a continuation after a letter", [0x41, 0xc3, 0xa9, 0x80]),
        ("two bytes cut off", [0xc3]),
        ("three bytes cut off after one", [0xe2]),
        ("three bytes cut off after two", [0xe2, 0x82]),
        ("four bytes cut off after one", [0xf0]),
        ("four bytes cut off after two", [0xf0, 0x9f]),
        ("four bytes cut off after three", [0xf0, 0x9f, 0x98]),
        ("two bytes broken off by a letter", [0xc3, 0x41]),
        ("three bytes broken off by a letter", [0xe2, 0x82, 0x41]),
        ("four bytes broken off by a letter", [0xf0, 0x9f, 0x98, 0x41]),
        ("two beginnings", [0xc3, 0xc3, 0xa9]),
        ("C0", [0xc0, 0x80]),
        ("an overlong slash", [0xc0, 0xaf]),
        ("C1", [0xc1, 0xbf]),
        ("an overlong slash in three", [0xe0, 0x80, 0xaf]),
        ("the last overlong of three", [0xe0, 0x9f, 0xbf]),
        ("an overlong slash in four", [0xf0, 0x80, 0x80, 0xaf]),
        ("the last overlong of four", [0xf0, 0x8f, 0xbf, 0xbf]),
        ("U+D800", [0xed, 0xa0, 0x80]),
        ("U+DB7F", [0xed, 0xad, 0xbf]),
        ("U+DC00", [0xed, 0xb0, 0x80]),
        ("U+DFFF", [0xed, 0xbf, 0xbf]),
        ("a pair of surrogates", [0xed, 0xa0, 0x80, 0xed, 0xb0, 0x80]),
        ("U+110000", [0xf4, 0x90, 0x80, 0x80]),
        ("F5", [0xf5, 0x80, 0x80, 0x80]),
        ("F7", [0xf7, 0xbf, 0xbf, 0xbf]),
        ("five bytes", [0xf8, 0x88, 0x80, 0x80, 0x80]),
        ("six bytes", [0xfc, 0x84, 0x80, 0x80, 0x80, 0x80]),
        ("FE", [0xfe]),
        ("FF", [0xff]),
        ("FE and FF", [0xfe, 0xfe, 0xff, 0xff]),
        ("Latin-1", [0x63, 0x61, 0x66, 0xe9]),
        ("bad at the end of a long line", Array(repeating: 97, count: 99) + [0xff]),
    ]

    static let text: [WireCase] =
        validText.flatMap { name, bytes in
            let text = String(decoding: bytes, as: UTF8.self)
            return [
                fine("text: \(name)", [.text(bytes: bytes)], gives: [.text(text)]),
                fine("text, each byte a frame: \(name)", apart(bytes), gives: [.text(text)]),
            ]
        }
        + invalidText.flatMap { name, bytes in
            [
                refused("bad text: \(name)", [.text(bytes: bytes)], as: .invalidUTF8),
                refused("bad text, each byte a frame: \(name)", apart(bytes), as: .invalidUTF8),
                fine("bytes, not text: \(name)", [.binary(bytes)], gives: [.binary(bytes)]),
            ]
        } + [
            // The violation is visible before the end of the frame.
            broken(
                "bad text at the start of a frame that never ends",
                bytes: [0x81, 126, 0xff, 0xff, 0x61, 0xff],
                as: .invalidUTF8
            ),
            broken(
                "bad text in a fragment that is not the last",
                bytes: Frame.text(bytes: [0xed, 0xa0], final: false).bytes,
                as: .invalidUTF8
            ),
        ]

    private static func apart(_ bytes: [UInt8]) -> [Frame] {
        guard let first = bytes.first else { return [.text("")] }
        return [.text(bytes: [first], final: bytes.count == 1)]
            + bytes.indices.dropFirst().map { .more([bytes[$0]], final: $0 == bytes.count - 1) }
    }

    static let closing: [WireCase] =
        [1000, 1001].map { (code: UInt16) in
            WireCase(
                testDescription: "an orderly close with \(code)",
                bytes: Frame.close(code).bytes,
                closeCode: code
            )
        }
        + [1002, 1003, 1007, 1008, 1009, 1010, 1011, 1012, 1013, 1014, 3000, 3999, 4000, 4999].map {
            (code: UInt16) in
            WireCase(
                testDescription: "a close with \(code)",
                bytes: Frame.close(code, Array("why".utf8)).bytes,
                error: .closed,
                closeCode: code
            )
        }
        + [
            0, 1, 999, 1004, 1005, 1006, 1015, 1016, 1100, 1999, 2000, 2999, 5000, 9999, 65_535,
        ].map { (code: UInt16) in refused("a close with \(code)", [.close(code)]) }
        + invalidText.map { name, bytes in
            refused(
                "a close whose reason is bad text: \(name)",
                [.close(1000, bytes)],
                as: .invalidUTF8
            )
        }
        + validText.map { name, bytes in
            WireCase(
                testDescription: "a close whose reason is text: \(name)",
                bytes: Frame.close(1000, bytes).bytes
            )
        }
        + [
            WireCase(
                testDescription: "a close without a code",
                bytes: Frame.close(nil).bytes,
                closeCode: nil
            ),
            refused("a close with half a code", [Frame(opcode: 8, payload: [3])]),
            WireCase(
                testDescription: "a close with the longest reason",
                bytes: Frame.close(1000, .init(repeating: 97, count: 123)).bytes
            ),
            refused(
                "a close with a reason that is too long",
                [.close(1000, .init(repeating: 97, count: 124))]
            ),
            refused("a close in fragments", [Frame(opcode: 8, payload: [], isFinal: false)]),
            WireCase(
                testDescription: "a message, a ping and nonsense after a close",
                bytes: [Frame.text("before"), .close(), .text("after"), .ping([1])].flatMap(\.bytes)
                    + [0xff, 0xff, 0xff],
                messages: [.text("before")]
            ),
            WireCase(
                testDescription: "two closes",
                bytes: [Frame.close(1001), .close(1011)].flatMap(\.bytes),
                closeCode: 1001
            ),
        ]

    static let limits: [WireCase] = {
        let change: @Sendable (inout WebSocketConfiguration) -> Void = {
            $0.maximumMessageSize = 1000
            $0.maximumFrameSize = 600
        }
        func bytes(_ count: Int) -> [UInt8] { .init(repeating: 1, count: count) }
        var cases = [
            fine("the largest frame", [.binary(bytes(600))], gives: [.binary(bytes(600))]),
            fine(
                "the largest message",
                [.binary(bytes(500), final: false), .more(bytes(500))],
                gives: [.binary(bytes(1000))]
            ),
            fine(
                "the largest message twice, a ping between",
                [.binary(bytes(500), final: false), .ping([1]), .more(bytes(500))]
                    + [.binary(bytes(500), final: false), .more(bytes(500))],
                gives: [.binary(bytes(1000)), .binary(bytes(1000))],
                pongs: [[1]]
            ),
            refused("a frame with one byte too many", [.binary(bytes(601))], as: .messageTooLarge),
            refused(
                "a message with one byte too many",
                [.binary(bytes(500), final: false), .more(bytes(501))],
                as: .messageTooLarge
            ),
            refused(
                "a message of endless small fragments",
                [.binary(bytes(1), final: false)]
                    + .init(repeating: .more(bytes(1), final: false), count: 1000),
                as: .messageTooLarge
            ),
            // The announced length suffices.
            broken(
                "the head of a frame that would be too large",
                bytes: [0x82, 126, 2, 89],
                as: .messageTooLarge
            ),
        ]
        for index in cases.indices { cases[index].change = change }
        return cases
    }()

    static let all = framing + pings + reservedBits + opcodes + fragments + text + closing + limits
}
#endif
