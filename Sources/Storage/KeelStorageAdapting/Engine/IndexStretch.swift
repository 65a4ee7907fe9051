internal import KeelDocuments

/// A range of the entries of one index.
package struct IndexStretch {
    package let index: Int64
    /// The collection number in the entries; 0 in an index of a group.
    package let collection: Int64
    /// The lower bound of the entries' keys, which is in the range.
    package let first: [UInt8]
    /// The upper bound of the entries' keys, which is not in the range.
    package let firstBehind: [UInt8]?
    package let isBackward: Bool
    let needsScopeCheck: Bool

    /// Finds the range of a scan; nil if it is empty.
    init?(
        _ scan: QueryPlanner.Scan,
        of prepared: PreparedQuery,
        _ store: any StoreSnapshot,
        _ indexes: IndexSet
    ) throws {
        guard !scan.range.isEmpty, let stored = indexes.stored(scan.index) else { return nil }
        index = stored.number
        switch prepared.query.scope {
        case .collection(let path):
            guard let number = try store.number(of: path) else { return nil }
            collection = number
            needsScopeCheck = false
        case .group(_, let ancestor):
            collection = 0
            needsScopeCheck = ancestor != nil
        case .everything: return nil
        }
        var range = scan.range
        if scan.index.isEqualityOnly {
            range = try range.replacingPrefix(of: scan.fixedLength) { prefix in
                try store.sealing.fingerprint(prefix, in: stored.definition)
            }
        }
        first = range.first
        firstBehind = range.firstBehind
        isBackward = scan.isBackward
    }
}
