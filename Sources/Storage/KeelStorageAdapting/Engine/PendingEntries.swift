internal import Foundation

/// Changes to index entries, buffered to be written in index order.
///
/// In this order, a large commit reads and changes each page of the file once.
package final class PendingEntries {
    package struct Change {
        /// The number of the index.
        package let index: Int64
        /// The collection number in the entry.
        package let collection: Int64
        package let key: [UInt8]
        package let row: Int64
        package let isRemoval: Bool
        /// The order of the change: an entry that is removed and added again must exist.
        fileprivate let number: Int

        fileprivate func precedes(_ other: Change) -> Bool {
            if index != other.index { return index < other.index }
            if collection != other.collection { return collection < other.collection }
            let common = min(key.count, other.key.count)
            let order = key.withUnsafeBytes { mine in
                other.key.withUnsafeBytes { others -> Int32 in
                    guard let mine = mine.baseAddress, let others = others.baseAddress else {
                        return 0
                    }
                    return memcmp(mine, others, common)
                }
            }
            if order != 0 { return order < 0 }
            if key.count != other.key.count { return key.count < other.key.count }
            return number < other.number
        }
    }

    /// The number of changes at which they are written before the end of the transaction, to limit memory.
    private static let most = 50_000

    private var changes: [Change] = []

    package init() {}

    package func add(
        _ key: [UInt8],
        of row: Int64,
        to index: Int64,
        in collection: Int64,
        isRemoval: Bool
    ) {
        changes.append(
            Change(
                index: index,
                collection: collection,
                key: key,
                row: row,
                isRemoval: isRemoval,
                number: changes.count
            )
        )
    }

    package var isFull: Bool { changes.count >= Self.most }

    /// Passes the changes to `write` in index order and empties the buffer.
    ///
    /// Call this method before reading an index in the same transaction.
    package func write(_ write: (Change) throws -> Void) rethrows {
        if changes.count > 1 { changes.sort { $0.precedes($1) } }
        for change in changes { try write(change) }
        changes.removeAll(keepingCapacity: true)
    }
}
