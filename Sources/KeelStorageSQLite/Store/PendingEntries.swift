#if SQLite
internal import Foundation

/// Changes to index entries that wait to be written in the order of the index.
///
/// Documents come in any order, and each index sorts them anew: written at once, the entries of a
/// large commit would touch pages all over the file, each of them many times. In order, every page
/// is read and changed once.
final class PendingEntries {
    private struct Change {
        let index: Int64
        let collection: Int64
        let key: [UInt8]
        let row: Int64
        let isRemoval: Bool
        /// When the change was made: an entry that is removed and put back must be there.
        let number: Int

        func precedes(_ other: Change) -> Bool {
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

    /// Takes a change; its place is among those of the same index.
    func add(
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

    var isFull: Bool { changes.count >= Self.most }

    /// Writes what is waiting; whoever reads the index in this transaction must call it first.
    func write(with statements: WriteStatements) throws {
        if changes.count > 1 { changes.sort { $0.precedes($1) } }
        for change in changes {
            let statement = try statements[change.isRemoval ? .deleteEntry : .insertEntry]
            try statement.bind(1, change.index)
            try statement.bind(2, change.collection)
            try statement.bind(3, change.key)
            try statement.bind(4, change.row)
            try statement.run()
        }
        changes.removeAll(keepingCapacity: true)
    }
}
#endif
