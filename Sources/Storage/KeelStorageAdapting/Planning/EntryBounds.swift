internal import KeelDocuments

/// A converter from bounds of a query's order to bounds of index entry keys.
struct EntryBounds {
    private let orders: [DocumentQuery.Order]
    /// The key of the collection, if its entries hold only ids; nil if entries hold whole paths.
    private let collection: [UInt8]?
    /// Whether a bound was cut, so that the range may include entries beyond it.
    private(set) var isCut = false

    init(
        _ index: IndexDefinition,
        in scope: DocumentQuery.Scope,
        orders: [DocumentQuery.Order]
    ) {
        self.orders = orders
        if case .collection(let path) = scope, index.scope == .collection {
            collection = IndexKey.key(ofAllIn: path)
        } else {
            collection = nil
        }
    }

    mutating func range(_ range: KeyRange) -> KeyRange {
        KeyRange(
            from: range.lower.map { bound([$0.bytes], isAfter: $0.isAfter, isLower: true) },
            to: range.upper.map { bound([$0.bytes], isAfter: $0.isAfter, isLower: false) }
        )
    }

    mutating func range(from lower: KeyBound?, to upper: KeyBound?) -> KeyRange {
        KeyRange(
            from: lower.map { bound($0.parts, isAfter: !$0.isInclusive, isLower: true) },
            to: upper.map { bound($0.parts, isAfter: $0.isInclusive, isLower: false) }
        )
    }

    mutating func whole(_ range: KeyRange) -> KeyRange {
        var range = range
        if var lower = range.lower, EntryKey.cutWhole(&lower.bytes) {
            range.lower = .before(lower.bytes)
            isCut = true
        }
        if var upper = range.upper, EntryKey.cutWhole(&upper.bytes) {
            range.upper = .after(upper.bytes)
            isCut = true
        }
        return range
    }

    private mutating func bound(
        _ parts: [[UInt8]],
        isAfter: Bool,
        isLower: Bool
    ) -> KeyRange.Cut {
        var bytes: [UInt8] = []
        for (part, order) in zip(parts, orders) {
            let start = bytes.count
            if order.field.isDocumentID, let collection {
                let own = order.direction == .ascending ? collection : collection.map(~)
                guard part.starts(with: own) else {
                    // The bound is before or after all documents of the collection.
                    let isBehind =
                        own.starts(with: part) ? isAfter : own.lexicographicallyPrecedes(part)
                    return KeyRange.Cut(bytes: bytes, isAfter: isBehind)
                }
                bytes += part.dropFirst(own.count)
            } else {
                bytes += part
            }
            guard EntryKey.cutComponent(&bytes, from: start) else { continue }
            // Other entries cut at this point, and their further parts, may be on either side of the bound.
            isCut = true
            return KeyRange.Cut(bytes: bytes, isAfter: !isLower)
        }
        return KeyRange.Cut(bytes: bytes, isAfter: isAfter)
    }
}
