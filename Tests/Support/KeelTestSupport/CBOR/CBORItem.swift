package import KeelCBOR

/// A CBOR item as a tree; documents are read and written without one.
///
/// Items are equal if their encodings are: −0.0 differs from 0.0, all NaNs are equal, and `simple(20)` equals
/// `boolean(false)`. The tree does not preserve indefinite lengths or the widths of heads and floats.
package enum CBORItem: Sendable {
    /// A nonnegative integer.
    case unsigned(UInt64)
    /// The integer −1 − n, where n is the associated value.
    case negative(UInt64)
    /// A byte string.
    case bytes([UInt8])
    /// A text string.
    case text(String)
    /// An array.
    case array([CBORItem])
    /// The pairs of a map, in encoded order; keys may repeat.
    case map([Entry])
    /// The number of a tag and its item.
    indirect case tagged(UInt64, CBORItem)
    /// A simple value without a meaning in RFC 8949: never 24 to 31.
    case simple(UInt8)
    /// `false` or `true`.
    case boolean(Bool)
    /// `null`.
    case null
    /// `undefined`.
    case undefined
    /// A floating-point number of any width.
    case float(Double)

    /// A key of a map with its value.
    package struct Entry: Hashable, Sendable {
        /// The key, which may be any item.
        package var key: CBORItem
        package var value: CBORItem

        package init(_ key: CBORItem, _ value: CBORItem) {
            self.key = key
            self.value = value
        }
    }
}

extension CBORItem: Hashable {
    package static func == (lhs: Self, rhs: Self) -> Bool { lhs.encoded() == rhs.encoded() }

    package func hash(into hasher: inout Hasher) { hasher.combine(encoded()) }
}

extension CBORItem {
    package static func integer(_ value: Int64) -> Self {
        value >= 0 ? .unsigned(UInt64(value)) : .negative(UInt64(~value))
    }

    /// Returns the item's bytes, in shortest forms and with definite lengths.
    package func encoded() -> [UInt8] {
        var writer = CBORWriter()
        encode(to: &writer)
        return writer.bytes
    }

    package func encode(to writer: inout CBORWriter) {
        switch self {
        case .unsigned(let value): writer.unsigned(value)
        case .negative(let complement): writer.negative(complement)
        case .bytes(let content): writer.byteString(content)
        case .text(let content): writer.text(content)
        case .array(let items):
            writer.arrayHeader(items.count)
            for item in items { item.encode(to: &writer) }
        case .map(let entries):
            writer.mapHeader(entries.count)
            for entry in entries {
                entry.key.encode(to: &writer)
                entry.value.encode(to: &writer)
            }
        case .tagged(let number, let content):
            writer.tag(number)
            content.encode(to: &writer)
        case .simple(let value): writer.simple(value)
        case .boolean(let value): writer.boolean(value)
        case .null: writer.null()
        case .undefined: writer.undefined()
        case .float(let value): writer.double(value)
        }
    }
}

extension CBORItem {
    /// Returns whether `bytes` are one item in the deterministic encoding of RFC 8949 section 4.2.1.
    ///
    /// Heads and floats have their shortest form, lengths are definite, and the keys of each map are unique and in
    /// bytewise order of their encodings. In addition, text must be UTF-8 and NaN must be `f97e00` (section 4.2.2), so
    /// the result tells whether `CBORWriter` would write these bytes.
    package static func isDeterministic(_ bytes: [UInt8]) -> Bool {
        guard let item = try? CBORItem(decoding: bytes) else { return false }
        return item.encoded() == bytes && item.hasAscendingKeys
    }

    private var hasAscendingKeys: Bool {
        switch self {
        case .array(let items): items.allSatisfy(\.hasAscendingKeys)
        case .map(let entries):
            entries.allSatisfy { $0.key.hasAscendingKeys && $0.value.hasAscendingKeys }
                && zip(entries, entries.dropFirst()).allSatisfy {
                    $0.key.encoded().lexicographicallyPrecedes($1.key.encoded())
                }
        case .tagged(_, let item): item.hasAscendingKeys
        default: true
        }
    }
}

extension CBORWriter {
    /// Returns whether the text key `key` comes before `other` in a deterministic map.
    ///
    /// Section 4.2.1 orders keys by their encodings, which begin with the head. Therefore a shorter text comes before a
    /// longer one, and only texts of the same length are compared bytewise.
    package static func textKey(_ key: String, precedes other: String) -> Bool {
        let (left, right) = (key.utf8, other.utf8)
        guard left.count == right.count else { return left.count < right.count }
        return left.lexicographicallyPrecedes(right)
    }
}
