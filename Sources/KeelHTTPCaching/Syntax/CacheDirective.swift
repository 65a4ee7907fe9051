/// One member of a `Cache-Control` field, as it was written.
struct CacheDirective: Hashable, Sendable {
    /// The name in small letters.
    let name: String

    /// The argument, its quotes taken off; nil where there is none.
    let argument: String?

    /// Reads a member; nil for one that no recipient may take for a directive, such as one with
    /// spaces around the equals sign.
    init?(_ member: String) {
        guard let equals = member.utf8.firstIndex(of: UInt8(ascii: "=")) else {
            guard FieldList.isToken(member) else { return nil }
            name = member.lowercased()
            argument = nil
            return
        }
        let written = member[..<equals]
        guard FieldList.isToken(written) else { return nil }
        name = written.lowercased()
        let value = member[member.utf8.index(after: equals)...]
        // What is neither a token nor a whole quoted string is kept: a number that is expected
        // there is then no number, which counts as stale rather than as absent.
        argument = Self.unquoted(value) ?? String(value)
    }

    /// Creates a directive, for a targeted field whose members have other forms.
    init(name: String, argument: String?) {
        self.name = name
        self.argument = argument
    }

    /// Returns the content of a whole quoted string; nil if the text is none.
    static func unquoted(_ text: some StringProtocol) -> String? {
        let bytes = Array(text.utf8)
        let quote = UInt8(ascii: "\"")
        guard bytes.count >= 2, bytes.first == quote, bytes.last == quote else { return nil }
        var content: [UInt8] = []
        var isEscaped = false
        for byte in bytes[1..<(bytes.count - 1)] {
            if !isEscaped, byte == UInt8(ascii: "\\") {
                isEscaped = true
                continue
            }
            if !isEscaped, byte == quote { return nil }
            content.append(byte)
            isEscaped = false
        }
        return isEscaped ? nil : String(decoding: content, as: UTF8.self)
    }
}

/// A number of seconds that a directive or field gives, or may fail to give.
enum DeltaSeconds: Hashable, Sendable {
    /// Nothing was said.
    case absent
    /// A number; one that no machine can hold is held at ``limit``.
    case seconds(Int64)
    /// Something was said that is no number of seconds (RFC 9111 section 1.2.2).
    case invalid

    /// The most seconds that are told apart: more than 30,000 years.
    static let limit: Int64 = 1 << 40

    /// Reads digits, and nothing else.
    init(_ text: String?) {
        guard let text, !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            self = .invalid
            return
        }
        self = .seconds(min(Int64(text) ?? Self.limit, Self.limit))
    }

    /// The number, zero where what was said is none; nil where nothing was said.
    var strict: Int64? {
        switch self {
        case .absent: nil
        case .seconds(let seconds): seconds
        case .invalid: 0
        }
    }

    /// The number; nil where nothing was said, or nothing that is a number.
    var valid: Int64? {
        guard case .seconds(let seconds) = self else { return nil }
        return seconds
    }

    var isPresent: Bool { self != .absent }
}
