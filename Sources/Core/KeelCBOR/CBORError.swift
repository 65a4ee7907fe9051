/// An error of reading CBOR, with its position.
///
/// It contains no content, only kinds and an offset.
package struct CBORError: Error, Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
        /// The bytes end inside an item, or a count exceeds the remaining bytes.
        case truncated
        /// The item has another kind.
        case unexpected(expected: CBORKind, found: CBORKind)
        /// The integer does not fit the requested type.
        case integerOverflow
        /// A text string is not UTF-8.
        case invalidUTF8
        /// Arrays, maps and tags nest deeper than ``CBORReader/nestingLimit``, or than the caller allows.
        case nestingTooDeep
        /// The item is well-formed, but the call does not support its indefinite length.
        case unsupported
        /// The bytes violate the grammar of RFC 8949 (appendix C), such as a reserved head or a stray break.
        case malformed
        /// More bytes follow the last item.
        case trailingBytes
    }

    package let kind: Kind

    /// The index of the faulty item or byte, in the bytes given to the reader.
    package let offset: Int

    @inlinable
    package init(_ kind: Kind, at offset: Int) {
        self.kind = kind
        self.offset = offset
    }
}

extension CBORError: CustomStringConvertible {
    package var description: String {
        let what =
            switch kind {
            case .truncated: "the input is truncated"
            case .unexpected(let expected, let found): "expected \(expected), found \(found)"
            case .integerOverflow: "an integer is out of range"
            case .invalidUTF8: "a string is not UTF-8"
            case .nestingTooDeep: "items are nested too deep"
            case .unsupported: "an item has an indefinite length"
            case .malformed: "the bytes are not well-formed"
            case .trailingBytes: "there are bytes after the last item"
            }
        return "CBOR: \(what) at offset \(offset)"
    }
}
