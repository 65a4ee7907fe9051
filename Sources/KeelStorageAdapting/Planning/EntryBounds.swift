internal import KeelDocuments

/// Turns bounds of a query's order into bounds of the keys of an index's entries.
struct EntryBounds {
    /// The orders that the index's entries are in behind the fixed components, up to the path.
    private let orders: [DocumentQuery.Order]
    /// The key of the collection whose entries hold ids alone; nil where they hold whole paths.
    private let collection: [UInt8]?
    /// Whether a bound was cut, so that entries beyond it lie within.
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

    /// The range of entries for a range of keys of the first order.
    mutating func range(_ range: KeyRange) -> KeyRange {
        KeyRange(
            from: range.lower.map { bound([$0.bytes], isAfter: $0.isAfter, isLower: true) },
            to: range.upper.map { bound([$0.bytes], isAfter: $0.isAfter, isLower: false) }
        )
    }

    /// The range of entries between the beginning and the end of a result.
    mutating func range(from lower: KeyBound?, to upper: KeyBound?) -> KeyRange {
        KeyRange(
            from: lower.map { bound($0.parts, isAfter: !$0.isInclusive, isLower: true) },
            to: upper.map { bound($0.parts, isAfter: $0.isInclusive, isLower: false) }
        )
    }

    /// Cuts the bounds of a range at the length of whole keys.
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
                    // It lies before all documents of the collection, or behind them.
                    let isBehind =
                        own.starts(with: part) ? isAfter : own.lexicographicallyPrecedes(part)
                    return KeyRange.Cut(bytes: bytes, isAfter: isBehind)
                }
                bytes += part.dropFirst(own.count)
            } else {
                bytes += part
            }
            guard EntryKey.cutComponent(&bytes, from: start) else { continue }
            // The other entries that are cut there may lie on either side; so may what follows in them.
            isCut = true
            return KeyRange.Cut(bytes: bytes, isAfter: !isLower)
        }
        return KeyRange.Cut(bytes: bytes, isAfter: isAfter)
    }
}
