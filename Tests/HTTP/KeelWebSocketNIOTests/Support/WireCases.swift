#if WebSocket
import KeelHTTP
import KeelWebSocket

/// Framing, pings, reserved bits, opcodes and fragments (RFC 6455 sections 5.2 to 5.6).
extension WireCase {
    static let framing: [WireCase] =
        [0, 1, 124, 125, 126, 127, 128, 254, 255, 256, 65_535, 65_536, 100_000].flatMap { length in
            let text = String(repeating: "*", count: length)
            let bytes = (0..<length).map { UInt8(truncatingIfNeeded: $0 &* 7) }
            return [
                fine("text of \(length) bytes", [.text(text)], gives: [.text(text)]),
                fine("\(length) bytes", [.binary(bytes)], gives: [.binary(bytes)]),
            ]
        } + [
            refused("a masked frame", [Frame(opcode: 1, payload: [65], isMasked: true)]),
            refused("a masked ping", [Frame(opcode: 9, payload: [], isMasked: true)]),
            overlong(Frame.text("short"), 3), overlong(Frame.text("short"), 9),
            overlong(Frame.binary([UInt8](repeating: 1, count: 125)), 3),
            overlong(Frame.binary([UInt8](repeating: 1, count: 65_535)), 9),
            broken(
                "a length with the highest bit set",
                bytes: [0x82, 127, 0x80, 0, 0, 0, 0, 0, 0, 1, 0]
            ),
            broken(
                "a length of almost all the memory there is",
                bytes: [0x82, 127, 0x7f, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
                as: .messageTooLarge
            ),
        ]

    private static func overlong(_ frame: Frame, _ size: Int) -> WireCase {
        broken(
            "\(frame.payload.count) bytes with a length of \(size) bytes",
            bytes: frame.encoded(lengthSize: size)
        )
    }

    static let pings: [WireCase] = [
        fine("an empty ping", [.ping()], gives: [], pongs: [[]]),
        fine(
            "a ping of text",
            [.ping(Array("Hello".utf8))],
            gives: [],
            pongs: [Array("Hello".utf8)]
        ),
        fine(
            "a ping of bytes",
            [.ping([0, 255, 254, 0x80])],
            gives: [],
            pongs: [[0, 255, 254, 0x80]]
        ),
        fine(
            "a ping of 125 bytes",
            [.ping(.init(repeating: 9, count: 125))],
            gives: [],
            pongs: [.init(repeating: 9, count: 125)]
        ),
        refused("a ping of 126 bytes", [.ping(.init(repeating: 9, count: 126))]),
        refused("a ping of 65536 bytes", [.ping(.init(repeating: 9, count: 65_536))]),
        fine("an empty pong that nobody waits for", [.pong()], gives: []),
        fine("a pong that nobody waits for", [.pong([1, 2, 3])], gives: []),
        fine("a pong of eight bytes", [.pong(.init(repeating: 0xff, count: 8))], gives: []),
        fine("a pong, then a ping", [.pong([1]), .ping([2])], gives: [], pongs: [[2]]),
        refused("a pong of 126 bytes", [.pong(.init(repeating: 9, count: 126))]),
        fine("ten pings", (0..<10).map { .ping([$0]) }, gives: [], pongs: (0..<10).map { [$0] }),
        refused("a ping in fragments", [Frame(opcode: 9, payload: [1], isFinal: false)]),
        refused("a pong in fragments", [Frame(opcode: 10, payload: [1], isFinal: false)]),
    ]

    static let reservedBits: [WireCase] = (1...7 as ClosedRange<UInt8>).flatMap { bits in
        [1, 2, 8, 9, 10 as UInt8].map { opcode in
            refused(
                "reserved bits \(bits) with opcode \(opcode)",
                [.text("before"), Frame(opcode: opcode, payload: [], reserved: bits)],
                gives: [.text("before")]
            )
        } + [
            refused(
                "reserved bits \(bits) with a continuation",
                [.text("a", final: false), Frame(opcode: 0, payload: [65], reserved: bits)]
            )
        ]
    }

    static let opcodes: [WireCase] = [3, 4, 5, 6, 7, 11, 12, 13, 14, 15].flatMap { opcode in
        [
            refused("opcode \(opcode)", [Frame(opcode: opcode, payload: [])]),
            refused(
                "opcode \(opcode) with a payload, after a message",
                [.text("before"), Frame(opcode: opcode, payload: [1, 2])],
                gives: [.text("before")]
            ),
            refused(
                "opcode \(opcode) inside a message",
                [.text("a", final: false), Frame(opcode: opcode, payload: [1])]
            ),
        ]
    }

    static let fragments: [WireCase] = [
        fine("two fragments", [.text("a", final: false), .more("b")], gives: [.text("ab")]),
        fine(
            "fragments of bytes",
            [.binary([1], final: false), .more([2])],
            gives: [.binary([1, 2])]
        ),
        fine(
            "an empty first fragment",
            [.text("", final: false), .more("b")],
            gives: [.text("b")]
        ),
        fine(
            "fragments without a byte",
            [.text("", final: false), .more("", final: false), .more("")],
            gives: [.text("")]
        ),
        fine(
            "an empty fragment between others",
            [.text("a", final: false), .more("", final: false), .more("b")],
            gives: [.text("ab")]
        ),
        fine(
            "a ping between fragments",
            [.text("a", final: false), .ping([7]), .more("b")],
            gives: [.text("ab")],
            pongs: [[7]]
        ),
        fine(
            "pings and pongs between many fragments",
            [.text("a", final: false), .ping([1]), .pong([2]), .more("b", final: false)]
                + [.ping([3]), .more("c", final: false), .ping([4]), .more("d"), .ping([5])],
            gives: [.text("abcd")],
            pongs: [[1], [3], [4], [5]]
        ),
        fine(
            "a hundred fragments",
            [.binary([0], final: false)] + (1..<99).map { .more([$0], final: false) } + [
                .more([99])
            ],
            gives: [.binary(Array(0...99))]
        ),
        fine(
            "two messages in fragments",
            [.text("a", final: false), .more("b"), .binary([1], final: false), .more([2])],
            gives: [.text("ab"), .binary([1, 2])]
        ),
        refused("a continuation of nothing", [.more("a")]),
        refused("a continuation of nothing, unfinished", [.more("a", final: false)]),
        refused(
            "a continuation after a whole message",
            [.text("a"), .more("b")],
            gives: [.text("a")]
        ),
        refused(
            "a continuation after a fragmented message",
            [.text("a", final: false), .more("b"), .more("c", final: false)],
            gives: [.text("ab")]
        ),
        refused("a message inside a message", [.text("a", final: false), .text("b")]),
        refused(
            "a message of bytes inside a message of text",
            [.text("a", final: false), .binary([1], final: false)]
        ),
        refused(
            "a fragmented ping between fragments",
            [.text("a", final: false), Frame(opcode: 9, payload: [], isFinal: false)]
        ),
        WireCase(
            testDescription: "a Close frame between fragments",
            bytes: [Frame.text("a", final: false), .close(), .more("b")].flatMap(\.bytes)
        ),
    ]
}
#endif
