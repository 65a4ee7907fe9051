import KeelCore

/// The place of a request in a distributed trace (W3C Trace Context, level 2).
package struct TraceContext: Sendable, Hashable {
    /// The identifier of the trace, 16 bytes, not all zero.
    package let traceID: [UInt8]

    /// The identifier of the request's span, 8 bytes, not all zero.
    package let spanID: [UInt8]

    /// Whether the caller may have recorded the trace.
    package let isSampled: Bool

    /// Whether at least the last seven bytes of ``traceID`` are random (level 2, section 3.2.2.5); every participant
    /// passes it on.
    package let isRandom: Bool

    /// The value of `tracestate`; nil if there is none.
    package let state: String?

    /// Begins a trace with random identifiers; `isSampled` says whether this process records it.
    package init(isSampled: Bool = false, using generator: inout some RandomNumberGenerator) {
        traceID = Self.identifier(of: 16, using: &generator)
        spanID = Self.identifier(of: 8, using: &generator)
        self.isSampled = isSampled
        isRandom = true
        state = nil
    }

    private init(traceID: [UInt8], spanID: [UInt8], flags: UInt8, state: String?) {
        self.traceID = traceID
        self.spanID = spanID
        isSampled = flags & 1 != 0
        isRandom = flags & 2 != 0
        self.state = state
    }

    /// Parses the fields `traceparent` and `tracestate` of a request; nil if the former is not valid.
    ///
    /// An invalid `tracestate` is dropped.
    package init?(parent: String, states: [String] = []) {
        let bytes = Array(parent.utf8)
        guard bytes.count >= 55, bytes[2] == 0x2D, bytes[35] == 0x2D, bytes[52] == 0x2D,
            let version = Self.bytes(bytes[0..<2])?.first, version != 0xFF,
            version == 0 ? bytes.count == 55 : bytes.count == 55 || bytes[55] == 0x2D,
            let traceID = Self.bytes(bytes[3..<35]), traceID.contains(where: { $0 != 0 }),
            let spanID = Self.bytes(bytes[36..<52]), spanID.contains(where: { $0 != 0 }),
            let flags = Self.bytes(bytes[53..<55])?.first
        else { return nil }
        self.init(
            traceID: traceID,
            spanID: spanID,
            flags: flags,
            state: TraceState.checked(states)
        )
    }

    package func child(using generator: inout some RandomNumberGenerator) -> TraceContext {
        TraceContext(
            traceID: traceID,
            spanID: Self.identifier(of: 8, using: &generator),
            flags: flags,
            state: state
        )
    }

    /// The value of the field `traceparent`, in version 00.
    package var parent: String {
        let parts = [[0], traceID, spanID, [flags]]
        return parts.map { Hexadecimal.text(of: $0) }.joined(separator: "-")
    }

    /// The flags of version 00; others are not passed on.
    private var flags: UInt8 { (isSampled ? 1 : 0) | (isRandom ? 2 : 0) }

    private static func identifier(
        of count: Int,
        using generator: inout some RandomNumberGenerator
    ) -> [UInt8] {
        while true {
            let bytes = (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &generator) }
            if bytes.contains(where: { $0 != 0 }) { return bytes }
        }
    }

    /// Returns the bytes of hexadecimal digits, which must be lowercase.
    private static func bytes(_ digits: ArraySlice<UInt8>) -> [UInt8]? {
        let isLowercase = !digits.contains { (UInt8(ascii: "A")...UInt8(ascii: "F")).contains($0) }
        return isLowercase ? Hexadecimal.bytes(of: String(decoding: digits, as: UTF8.self)) : nil
    }
}

/// The grammar of the field `tracestate` (W3C Trace Context, section 3.3).
private enum TraceState {
    /// Returns the members of all values joined, or nil if there are none or any is not valid.
    static func checked(_ values: [String]) -> String? {
        var keys: Set<Substring> = []
        var members: [Substring] = []
        for value in values {
            for piece in value.split(separator: ",", omittingEmptySubsequences: true) {
                let member = piece.trimmed
                if member.isEmpty { continue }
                guard let sign = member.firstIndex(of: "="), isKey(member[..<sign]),
                    isValue(member[member.index(after: sign)...]),
                    keys.insert(member[..<sign]).inserted
                else { return nil }
                members.append(member)
            }
        }
        guard (1...32).contains(members.count) else { return nil }
        return members.joined(separator: ",")
    }

    private static func isKey(_ key: Substring) -> Bool {
        let parts = key.utf8.split(separator: UInt8(ascii: "@"), omittingEmptySubsequences: false)
        func isName(_ part: Substring.UTF8View, _ limit: Int, digitFirst: Bool) -> Bool {
            guard let first = part.first, part.count <= limit else { return false }
            let isLetter = (UInt8(ascii: "a")...UInt8(ascii: "z")).contains(first)
            let isDigit = (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(first)
            return (isLetter || digitFirst && isDigit)
                && part.allSatisfy { byte in
                    switch byte {
                    case UInt8(ascii: "a")...UInt8(ascii: "z"),
                        UInt8(ascii: "0")...UInt8(ascii: "9"):
                        true
                    default: "_-*/".utf8.contains(byte)
                    }
                }
        }
        switch parts.count {
        case 1: return isName(parts[0], 256, digitFirst: false)
        case 2:
            return isName(parts[0], 241, digitFirst: true)
                && isName(parts[1], 14, digitFirst: false)
        default: return false
        }
    }

    private static func isValue(_ value: Substring) -> Bool {
        guard let last = value.utf8.last, value.utf8.count <= 256, last != 0x20 else {
            return false
        }
        return value.utf8.allSatisfy { (0x20...0x7E).contains($0) && $0 != UInt8(ascii: "=") }
    }
}

extension Substring {
    fileprivate var trimmed: Substring {
        var text = drop { $0 == " " || $0 == "\t" }
        while let last = text.last, last == " " || last == "\t" { text.removeLast() }
        return text
    }
}
