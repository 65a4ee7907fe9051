#if TestServer
import HTTPTypes
import KeelTestKit

/// A frame of HTTP/2, RFC 9113 section 4.1.
///
/// NIOHTTP2 is not used because it refuses to violate the protocol.
struct HTTP2Frame: Sendable, Hashable {
    enum Kind: UInt8, Sendable {
        case data = 0
        case headers = 1
        case priority = 2
        case resetStream = 3
        case settings = 4
        case pushPromise = 5
        case ping = 6
        case goAway = 7
        case windowUpdate = 8
        case continuation = 9
    }

    /// Flags; the first bit has two meanings.
    enum Flag {
        static let endStream: UInt8 = 0x1
        static let acknowledgement: UInt8 = 0x1
        static let endHeaders: UInt8 = 0x4
        static let padded: UInt8 = 0x8
        static let priority: UInt8 = 0x20
    }

    /// The connection preface of a client.
    static let preface = Array("PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n".utf8)

    var kind: Kind?
    var flags: UInt8
    var stream: UInt32
    var payload: ArraySlice<UInt8>

    init(_ kind: Kind, flags: UInt8 = 0, stream: UInt32 = 0, _ payload: some Sequence<UInt8> = []) {
        self.kind = kind
        self.flags = flags
        self.stream = stream
        self.payload = ArraySlice(payload)
    }

    func has(_ flag: UInt8) -> Bool { flags & flag != 0 }

    var bytes: [UInt8] {
        let size = UInt32(payload.count).bigEndianBytes.dropFirst()
        return Array(size) + [kind?.rawValue ?? 0xff, flags] + stream.bigEndianBytes + payload
    }

    /// The payload without padding and priority.
    var content: ArraySlice<UInt8> {
        var content = payload
        var padding = 0
        if has(Flag.padded), kind == .data || kind == .headers {
            padding = Int(content.popFirst() ?? 0)
        }
        if has(Flag.priority), kind == .headers { content = content.dropFirst(5) }
        return content.dropLast(padding)
    }

    /// Removes the first complete frame from `bytes`.
    static func take(from bytes: inout ArraySlice<UInt8>) -> HTTP2Frame? {
        guard bytes.count >= 9 else { return nil }
        let start = bytes.startIndex
        let length = Int(UInt32(bigEndianBytes: [0] + bytes[start..<(start + 3)]))
        guard bytes.count >= 9 + length else { return nil }
        var frame = HTTP2Frame(.data, flags: bytes[start + 4], bytes[(start + 9)...].prefix(length))
        frame.kind = Kind(rawValue: bytes[start + 3])
        let stream = UInt32(bigEndianBytes: bytes[(start + 5)..<(start + 9)])
        frame.stream = stream & 0x7fff_ffff
        bytes = bytes.dropFirst(9 + length)
        return frame
    }
}

extension HTTP2Frame {
    static func settings(_ values: [(UInt16, UInt32)]) -> HTTP2Frame {
        HTTP2Frame(
            .settings,
            values.flatMap { [UInt8($0.0 >> 8), UInt8($0.0 & 0xff)] + $0.1.bigEndianBytes }
        )
    }

    static func windowUpdate(_ stream: UInt32, _ count: Int) -> HTTP2Frame {
        HTTP2Frame(.windowUpdate, stream: stream, UInt32(count).bigEndianBytes)
    }

    static func resetStream(_ stream: UInt32, _ code: UInt32) -> HTTP2Frame {
        HTTP2Frame(.resetStream, stream: stream, code.bigEndianBytes)
    }

    static func goAway(last: UInt32, code: UInt32) -> HTTP2Frame {
        HTTP2Frame(.goAway, last.bigEndianBytes + code.bigEndianBytes)
    }

    static func data(_ stream: UInt32, _ bytes: some Sequence<UInt8>, ends: Bool) -> HTTP2Frame {
        HTTP2Frame(.data, flags: ends ? Flag.endStream : 0, stream: stream, bytes)
    }

    /// Returns the frames of a header block, split at the maximum size that every peer accepts.
    static func headers(
        _ stream: UInt32,
        _ block: [UInt8],
        ends: Bool
    ) -> [HTTP2Frame] {
        var rest = block[...]
        var frames: [HTTP2Frame] = []
        repeat {
            let piece = rest.prefix(16_384)
            rest = rest.dropFirst(16_384)
            var flags = rest.isEmpty ? Flag.endHeaders : 0
            if frames.isEmpty, ends { flags |= Flag.endStream }
            let kind: Kind = frames.isEmpty ? .headers : .continuation
            frames.append(HTTP2Frame(kind, flags: flags, stream: stream, piece))
        } while !rest.isEmpty
        return frames
    }

    /// Returns a header block without compression (RFC 7541, section 6.2.2), which needs no state.
    static func block(status: Int?, _ fields: HTTPFields, length: Int? = nil) -> [UInt8] {
        var pairs: [(String, String)] = status.map { [(":status", "\($0)")] } ?? []
        if let length, fields[.contentLength] == nil {
            pairs.append(("content-length", "\(length)"))
        }
        pairs += fields.map { ($0.name.canonicalName, $0.value) }
        return pairs.flatMap { [0] + literal($0.0) + literal($0.1) }
    }

    private static func literal(_ text: String) -> [UInt8] {
        let bytes = Array(text.utf8)
        guard bytes.count >= 127 else { return [UInt8(bytes.count)] + bytes }
        var prefix: [UInt8] = [127]
        var rest = bytes.count - 127
        while rest >= 128 {
            prefix.append(UInt8(rest % 128 + 128))
            rest /= 128
        }
        return prefix + [UInt8(rest)] + bytes
    }
}

extension UInt32 {
    var bigEndianBytes: [UInt8] {
        [UInt8(self >> 24), UInt8(self >> 16 & 0xff), UInt8(self >> 8 & 0xff), UInt8(self & 0xff)]
    }

    init(bigEndianBytes bytes: some Sequence<UInt8>) {
        self = bytes.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
    }
}
#endif
