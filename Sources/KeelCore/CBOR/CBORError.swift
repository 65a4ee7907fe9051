/// Why bytes could not be read as CBOR, and where.
///
/// It is small and never boxed: readers throw it typed, and the capability that reads turns it into
/// the cause of its own error. It holds no content, only kinds and an offset.
package struct CBORError: Error, Hashable, Sendable {
    /// What was wrong.
    package enum Kind: Hashable, Sendable {
        /// The bytes end inside an item, or a count promises more items than there are bytes.
        case truncated
        /// An item of another kind stands here.
        case unexpected(expected: CBORKind, found: CBORKind)
        /// The integer does not fit the type it was read as.
        case integerOverflow
        /// A text string is not UTF-8.
        case invalidUTF8
        /// Arrays, maps and tags nest deeper than ``CBORReader/nestingLimit``.
        case nestingTooDeep
        /// The item is well-formed, but this call does not read its form: an indefinite length.
        case unsupported
        /// The bytes break the grammar of RFC 8949 (appendix C): a reserved head, a stray break.
        case malformed
        /// More bytes follow the last item.
        case trailingBytes
    }

    /// What was wrong.
    package let kind: Kind

    /// The index of the item or byte at fault, in the bytes given to the reader.
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
            case .truncated: "the bytes end too early"
            case .unexpected(let expected, let found): "expected \(expected), found \(found)"
            case .integerOverflow: "an integer is out of range"
            case .invalidUTF8: "a text is not UTF-8"
            case .nestingTooDeep: "items nest deeper than \(CBORReader.nestingLimit) levels"
            case .unsupported: "an item has an indefinite length"
            case .malformed: "the bytes are not well-formed"
            case .trailingBytes: "bytes follow the last item"
            }
        return "CBOR: \(what) at offset \(offset)"
    }
}
