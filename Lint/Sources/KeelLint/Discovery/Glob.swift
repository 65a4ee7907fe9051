/// A pattern for paths or names.
///
/// `*` matches anything within a component, `**` any components, `?` a character, `[A-Z]` an ASCII character in a
/// range, `[!A-Z]` a byte outside of it, and `{a,b}` alternatives. A folder matches everything in it.
package struct Glob: Sendable, Hashable, CustomStringConvertible {
    package let pattern: String
    private let alternatives: [Alternative]

    private struct Alternative: Hashable {
        let bytes: [UInt8]
        let isPlain: Bool
    }

    package init(_ pattern: String) {
        self.pattern = pattern
        var text = pattern
        while text.hasPrefix("./") { text.removeFirst(2) }
        if text.hasSuffix("/") { text += "**" }
        alternatives = Self.expanded(text).map { text in
            let bytes = Array(text.utf8)
            return Alternative(bytes: bytes, isPlain: Self.isPlain(bytes))
        }
    }

    package var description: String { pattern }

    /// `abd` and `acd` for `a{b,c}d`.
    private static func expanded(_ text: String) -> [String] {
        guard let open = text.firstIndex(of: "{"),
            let close = text[open...].firstIndex(of: "}")
        else { return [text] }
        let rest = expanded(String(text[text.index(after: close)...]))
        return text[text.index(after: open)..<close]
            .split(separator: ",", omittingEmptySubsequences: false)
            .flatMap { choice in rest.map { "\(text[..<open])\(choice)\($0)" } }
    }

    private static func isPlain(_ pattern: [UInt8]) -> Bool {
        !pattern.contains {
            $0 == UInt8(ascii: "*") || $0 == UInt8(ascii: "?") || $0 == UInt8(ascii: "[")
        }
    }

    package var isPlain: Bool { alternatives.count == 1 && alternatives.allSatisfy(\.isPlain) }

    /// Whether the pattern matches a path or a folder around it.
    package func matches(path: String) -> Bool {
        var path = path
        return path.withUTF8 { bytes in
            alternatives.contains { alternative in
                let pattern = alternative.bytes
                if alternative.isPlain {
                    return bytes.starts(with: pattern)
                        && (bytes.count == pattern.count
                            || bytes[pattern.count] == UInt8(ascii: "/"))
                }
                return Self.match(pattern[...], bytes[...])
                    || bytes.indices.contains { end in
                        bytes[end] == UInt8(ascii: "/") && Self.match(pattern[...], bytes[..<end])
                    }
            }
        }
    }

    /// Whether the pattern matches a whole name.
    package func matches(name: String) -> Bool {
        var name = name
        return name.withUTF8 { bytes in
            alternatives.contains { Self.match($0.bytes[...], bytes[...]) }
        }
    }

    private static func match(
        _ pattern: ArraySlice<UInt8>,
        _ text: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Bool {
        var pattern = pattern
        var text = text
        while let wanted = pattern.first {
            switch wanted {
            case UInt8(ascii: "*"):
                return matchStar(pattern, text)
            case UInt8(ascii: "?"):
                guard let byte = text.first, byte != UInt8(ascii: "/") else { return false }
                text = text.dropFirst()
                // The following bytes belong to the same character.
                while let next = text.first, next & 0xC0 == 0x80 { text = text.dropFirst() }
                pattern = pattern.dropFirst()
            case UInt8(ascii: "["):
                guard let end = pattern.firstIndex(of: UInt8(ascii: "]")), let byte = text.first,
                    isIn(pattern[(pattern.startIndex + 1)..<end], byte)
                else { return false }
                pattern = pattern[(end + 1)...]
                text = text.dropFirst()
            default:
                guard text.first == wanted else { return false }
                pattern = pattern.dropFirst()
                text = text.dropFirst()
            }
        }
        return text.isEmpty
    }

    private static func matchStar(
        _ pattern: ArraySlice<UInt8>,
        _ text: Slice<UnsafeBufferPointer<UInt8>>
    ) -> Bool {
        var rest = pattern.drop { $0 == UInt8(ascii: "*") }
        let goesDeep = rest.startIndex - pattern.startIndex > 1
        // `**/x` also matches `x` itself.
        if goesDeep, rest.first == UInt8(ascii: "/") {
            rest = rest.dropFirst()
            var tail = text
            while true {
                if match(rest, tail) { return true }
                guard let slash = tail.firstIndex(of: UInt8(ascii: "/")) else { return false }
                tail = tail[(slash + 1)...]
            }
        }
        var tail = text
        while true {
            if match(rest, tail) { return true }
            guard let byte = tail.first, goesDeep || byte != UInt8(ascii: "/") else { return false }
            tail = tail.dropFirst()
        }
    }

    private static func isIn(_ set: ArraySlice<UInt8>, _ byte: UInt8) -> Bool {
        var set = set
        let isNegated = set.first == UInt8(ascii: "!") || set.first == UInt8(ascii: "^")
        if isNegated { set = set.dropFirst() }
        var isFound = false
        while let low = set.first {
            if set.count >= 3, set[set.startIndex + 1] == UInt8(ascii: "-") {
                let high = set[set.startIndex + 2]
                if low <= high, (low...high).contains(byte) { isFound = true }
                set = set.dropFirst(3)
            } else {
                if low == byte { isFound = true }
                set = set.dropFirst()
            }
        }
        return isFound != isNegated
    }
}
