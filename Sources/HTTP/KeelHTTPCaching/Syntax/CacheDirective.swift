struct CacheDirective: Hashable, Sendable {
    /// The name in lowercase.
    let name: String

    /// The argument without quotes; nil if there is none.
    let argument: String?

    /// Reads a member; nil if it is invalid, for example with spaces around the equals sign.
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
        // A value that is neither a token nor a quoted string is kept: as a number it is then
        // invalid, which counts as stale rather than as absent.
        argument = Self.unquoted(value) ?? String(value)
    }

    init(name: String, argument: String?) {
        self.name = name
        self.argument = argument
    }

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

/// A number of seconds in a directive or field, if present and valid.
enum DeltaSeconds: Hashable, Sendable {
    case absent
    /// A number, at most ``limit``.
    case seconds(Int64)
    /// The value is not a number of seconds (RFC 9111 section 1.2.2).
    case invalid

    /// The largest number of seconds distinguished: more than 30,000 years.
    static let limit: Int64 = 1 << 40

    init(_ text: String?) {
        guard let text, !text.isEmpty,
            text.utf8.allSatisfy({ (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) })
        else {
            self = .invalid
            return
        }
        self = .seconds(min(Int64(text) ?? Self.limit, Self.limit))
    }

    /// The number, or zero if the value is invalid; nil if there is none.
    var strict: Int64? {
        switch self {
        case .absent: nil
        case .seconds(let seconds): seconds
        case .invalid: 0
        }
    }

    var valid: Int64? {
        guard case .seconds(let seconds) = self else { return nil }
        return seconds
    }

    var isPresent: Bool { self != .absent }
}
