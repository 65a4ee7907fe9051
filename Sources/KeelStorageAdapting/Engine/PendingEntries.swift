internal import Foundation

/// Changes to index entries that wait to be written in the order of the index.
///
/// Documents come in any order, and each index sorts them anew: written at once, the entries of a
/// large commit would touch pages all over the file, each of them many times. In order, every page
/// is read and changed once.
package final class PendingEntries {
    /// A change to an entry.
    package struct Change {
        /// The number of the index.
        package let index: Int64
        /// The number of the collection that the entry carries.
        package let collection: Int64
        /// The entry's key.
        package let key: [UInt8]
        /// The row of the document.
        package let row: Int64
        /// Whether the entry goes.
        package let isRemoval: Bool
        /// When the change was made: an entry that is removed and put back must be there.
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

    /// So many changes are written even before the end of the transaction, to spare memory.
    private static let most = 50_000

    private var changes: [Change] = []

    package init() {}

    /// Takes a change; its place is among those of the same index.
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

    /// Whether it is time to write.
    package var isFull: Bool { changes.count >= Self.most }

    /// Hands over what is waiting, in the order of the indexes, to be written.
    ///
    /// Call it before an index is read in the same transaction.
    package func write(_ write: (Change) throws -> Void) rethrows {
        if changes.count > 1 { changes.sort { $0.precedes($1) } }
        for change in changes { try write(change) }
        changes.removeAll(keepingCapacity: true)
    }
}
