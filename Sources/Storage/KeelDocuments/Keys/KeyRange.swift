/// A range of keys in byte order.
package struct KeyRange: Sendable, Hashable {
    /// A boundary between keys: before or after all keys with a prefix.
    package struct Cut: Sendable, Hashable {
        package var bytes: [UInt8]
        package var isAfter: Bool

        package init(bytes: [UInt8], isAfter: Bool) {
            self.bytes = bytes
            self.isAfter = isAfter
        }

        package static func before(_ bytes: [UInt8]) -> Cut { Cut(bytes: bytes, isAfter: false) }
        package static func after(_ bytes: [UInt8]) -> Cut { Cut(bytes: bytes, isAfter: true) }

        /// The first possible key after the cut; nil if there is none.
        package var firstKeyBehind: [UInt8]? {
            isAfter ? bytes.successorOfPrefix : bytes
        }

        func complemented() -> Cut { Cut(bytes: bytes.map(~), isAfter: !isAfter) }
        func prefixed(by prefix: [UInt8]) -> Cut { Cut(bytes: prefix + bytes, isAfter: isAfter) }

        func precedes(_ other: Cut) -> Bool {
            guard let mine = firstKeyBehind else { return false }
            guard let others = other.firstKeyBehind else { return true }
            return mine.lexicographicallyPrecedes(others)
        }
    }

    package var lower: Cut?
    package var upper: Cut?

    package init(from lower: Cut? = nil, to upper: Cut? = nil) {
        self.lower = lower
        self.upper = upper
    }

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

    package func complemented() -> KeyRange {
        KeyRange(from: upper?.complemented(), to: lower?.complemented())
    }

    package func prefixed(by prefix: [UInt8]) -> KeyRange {
        KeyRange(
            from: lower?.prefixed(by: prefix) ?? .before(prefix),
            to: upper?.prefixed(by: prefix) ?? .after(prefix)
        )
    }

    package var first: [UInt8] { lower?.firstKeyBehind ?? [] }

    /// The first possible key after the range; nil if there is no end.
    package var firstBehind: [UInt8]? { upper.flatMap(\.firstKeyBehind) }

    package var isEmpty: Bool {
        if let lower, lower.firstKeyBehind == nil { return true }
        guard let end = firstBehind else { return false }
        return !first.lexicographicallyPrecedes(end)
    }
}

extension [UInt8] {
    /// The first byte string after all those with this prefix; nil if there is none.
    package var successorOfPrefix: [UInt8]? {
        guard let last = lastIndex(where: { $0 != .max }) else { return nil }
        var bytes = Array(self[...last])
        bytes[last] += 1
        return bytes
    }
}
