/// A stretch of keys in their byte order.
package struct KeyRange: Sendable, Hashable {
    /// A cut between keys: before or after all keys that begin with certain bytes.
    package struct Cut: Sendable, Hashable {
        package var bytes: [UInt8]
        package var isAfter: Bool

        package init(bytes: [UInt8], isAfter: Bool) {
            self.bytes = bytes
            self.isAfter = isAfter
        }

        package static func before(_ bytes: [UInt8]) -> Cut { Cut(bytes: bytes, isAfter: false) }
        package static func after(_ bytes: [UInt8]) -> Cut { Cut(bytes: bytes, isAfter: true) }

        /// The first key that lies behind the cut; nil if there is none.
        package var firstKeyBehind: [UInt8]? {
            isAfter ? bytes.successorOfPrefix : bytes
        }

        func complemented() -> Cut { Cut(bytes: bytes.map(~), isAfter: !isAfter) }
        func prefixed(by prefix: [UInt8]) -> Cut { Cut(bytes: prefix + bytes, isAfter: isAfter) }

        /// Whether the cut lies before `other`.
        func precedes(_ other: Cut) -> Bool {
            guard let mine = firstKeyBehind else { return false }
            guard let others = other.firstKeyBehind else { return true }
            return mine.lexicographicallyPrecedes(others)
        }
    }

    /// Where the range begins; nil is the very beginning.
    package var lower: Cut?
    /// Where the range ends; nil is the very end.
    package var upper: Cut?

    package init(from lower: Cut? = nil, to upper: Cut? = nil) {
        self.lower = lower
        self.upper = upper
    }

    /// The keys that lie in both ranges.
    package func intersection(_ other: KeyRange) -> KeyRange {
        var result = self
        if let cut = other.lower, result.lower.map({ $0.precedes(cut) }) ?? true {
            result.lower = cut
        }
        if let cut = other.upper, result.upper.map({ cut.precedes($0) }) ?? true {
            result.upper = cut
        }
        return result
    }

    /// The range of the complements of these keys.
    package func complemented() -> KeyRange {
        KeyRange(from: upper?.complemented(), to: lower?.complemented())
    }

    /// The range of these keys behind a common prefix.
    package func prefixed(by prefix: [UInt8]) -> KeyRange {
        KeyRange(
            from: lower?.prefixed(by: prefix) ?? .before(prefix),
            to: upper?.prefixed(by: prefix) ?? .after(prefix)
        )
    }

    /// The first key of the range.
    package var first: [UInt8] { lower?.firstKeyBehind ?? [] }

    /// The first key behind the range; nil if the range has no end.
    package var firstBehind: [UInt8]? { upper.flatMap(\.firstKeyBehind) }

    /// Whether no key can lie in the range.
    package var isEmpty: Bool {
        if let lower, lower.firstKeyBehind == nil { return true }
        guard let end = firstBehind else { return false }
        return !first.lexicographicallyPrecedes(end)
    }
}

extension [UInt8] {
    /// The first byte string behind all that begin with this one; nil if there is none.
    package var successorOfPrefix: [UInt8]? {
        guard let last = lastIndex(where: { $0 != .max }) else { return nil }
        var bytes = Array(self[...last])
        bytes[last] += 1
        return bytes
    }
}
