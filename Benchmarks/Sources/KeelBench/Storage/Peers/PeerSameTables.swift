import Foundation
import GRDB
import KeelStorage

/// The tables of a Keel store with the indexes of ``StorePair/Indexing/two``, written by hand-written SQL.
///
/// It writes the rows that Keel writes for the same documents: the document, the entries of its indexes whose keys
/// change, and a row of the change log. It has no preconditions, no receipts, no trimming and no listeners.
struct PeerSameTables: Sendable {
    private let pool: DatabasePool

    /// Opens a file in which nothing else writes.
    init(_ path: String) throws {
        pool = try DatabasePool(path: path, configuration: PeerStore.settings)
        let place = Place(0)
        let keys = try pool.read { database in
            try Data.fetchAll(
                database,
                sql: """
                    SELECT e.key FROM entries e JOIN documents d ON d.rid = e.rid
                    WHERE d.cid = 1 AND d.id = ? ORDER BY e.ix
                    """,
                arguments: [place.id]
            )
        }
        guard keys == [Self.cityKey(place), Self.scoreKey(place)] else {
            throw Flaw("the peer's keys are not those of the store")
        }
    }

    /// Updates the document of a place.
    func set(_ place: Place) throws {
        let body = Data(try DocumentEncoder().encode(place).bytes)
        try pool.write { database in
            let found = try database.cachedStatement(
                sql: "SELECT rid, body FROM documents WHERE cid = 1 AND id = ?"
            )
            guard let row = try Row.fetchOne(found, arguments: [place.id]) else {
                throw Flaw("there is no such place")
            }
            let number: Int64 = row[0]
            let bytes: Data = row[1]
            let old: Place = try DocumentDecoder().decode(from: DocumentBody(bytes: [UInt8](bytes)))
            var log = try Log(database)
            let update = try database.cachedStatement(
                sql: "UPDATE documents SET rev = ?, updated = ?, body = ? WHERE rid = ?"
            )
            try update.execute(arguments: [log.next, log.next, body, number])
            for (index, before, after) in [
                (1, Self.cityKey(old), Self.cityKey(place)),
                (2, Self.scoreKey(old), Self.scoreKey(place)),
            ] where before != after {
                let deletion = try database.cachedStatement(
                    sql: "DELETE FROM entries WHERE ix = ? AND cid = 1 AND key = ? AND rid = ?"
                )
                try deletion.execute(arguments: [index, before, number])
                try Self.insert(after, of: number, to: index, in: database)
            }
            try log.add(place.id, to: database)
        }
    }

    /// Inserts documents of new places in one transaction.
    func insert(_ places: [Place]) throws {
        try pool.write { database in
            var log = try Log(database)
            let insertion = try database.cachedStatement(
                sql: """
                    INSERT INTO documents(cid, id, rev, created, updated, pending, body)
                    VALUES (1, ?, ?, ?, ?, 0, ?)
                    """
            )
            for place in places {
                let body = Data(try DocumentEncoder().encode(place).bytes)
                try insertion.execute(arguments: [place.id, log.next, log.next, log.next, body])
                let number = database.lastInsertedRowID
                try Self.insert(Self.cityKey(place), of: number, to: 1, in: database)
                try Self.insert(Self.scoreKey(place), of: number, to: 2, in: database)
                try log.add(place.id, to: database)
            }
        }
    }

    private static func insert(
        _ key: Data,
        of number: Int64,
        to index: Int,
        in database: Database
    ) throws {
        let insertion = try database.cachedStatement(
            sql: "INSERT INTO entries(ix, cid, key, rid) VALUES (?, 1, ?, ?)"
        )
        try insertion.execute(arguments: [index, key, number])
    }

    /// The end of the change log, which a transaction continues.
    private struct Log {
        /// The sequence of the next change, in microseconds, which is also the revision of its document.
        private(set) var next: Int64
        private let mark: Int64
        private var total: Int64

        init(_ database: Database) throws {
            let last = try database.cachedStatement(
                sql: "SELECT seq, mark, total FROM changes ORDER BY seq DESC LIMIT 1"
            )
            guard let row = try Row.fetchOne(last) else { throw Flaw("the log is empty") }
            (next, mark, total) = (max(row[0] + 1, PeerStore.now()), row[1], row[2])
        }

        mutating func add(_ id: String, to database: Database) throws {
            total += 60
            let insertion = try database.cachedStatement(
                sql: """
                    INSERT INTO changes(seq, cid, id, rev, removed, mark, total)
                    VALUES (?, 1, ?, ?, 0, ?, ?)
                    """
            )
            try insertion.execute(arguments: [next, id, next, mark, total])
            next += 1
        }
    }

    // MARK: Keys

    private static func cityKey(_ place: Place) -> Data {
        Data([0x19]) + Data(place.city.utf8) + Data([0, 1]) + end(place)
    }

    private static func scoreKey(_ place: Place) -> Data {
        let bits = Double(place.score).bitPattern | 1 << 63
        return Data([0x0F]) + withUnsafeBytes(of: bits.bigEndian) { Data($0) } + end(place)
    }

    private static func end(_ place: Place) -> Data {
        Data(place.id.utf8) + Data([0, 1, 0, 0])
    }
}
