import Foundation
import GRDB
import KeelStorage

/// Runs hand-written SQL over two indexed columns, with the composite index providing the order, and decodes the blobs
/// with Keel's decoder.
enum PeerQuery {
    static func run(district: String, limit: Int, in store: PeerStore) throws -> [Place] {
        let decoder = DocumentDecoder()
        return try store.pool.read { database in
            let statement = try database.cachedStatement(
                sql: "SELECT body FROM documents WHERE category = ? ORDER BY score DESC LIMIT ?"
            )
            let blobs = try Data.fetchCursor(statement, arguments: [district, limit])
            var places: [Place] = []
            while let blob = try blobs.next() {
                places.append(try decoder.decode(from: DocumentBody(bytes: [UInt8](blob))))
            }
            return places
        }
    }

    /// The tables of a Keel store, read by hand-written SQL with the same decoder.
    struct KeelTables: Sendable {
        private let pool: DatabasePool
        /// Where the keys of a district's entries begin.
        private let prefixes: [String: Data]

        private static let sql = """
            SELECT d.body FROM entries e CROSS JOIN documents d ON d.rid = e.rid
            WHERE e.ix = 1 AND e.cid = 1 AND e.key >= ? AND e.key < ? ORDER BY e.key LIMIT ?
            """

        /// Opens a file whose one index is that of ``StorePair/Indexing/composite``; each district has
        /// one of its first `places`.
        init(_ path: String, places: Int) throws {
            pool = try DatabasePool(path: path, configuration: PeerStore.settings)
            prefixes = try pool.read { database in
                var prefixes: [String: Data] = [:]
                for place in (0..<places).map(Place.init) {
                    let key = try Data.fetchOne(
                        database,
                        sql: """
                            SELECT e.key FROM entries e JOIN documents d ON d.rid = e.rid
                            WHERE d.cid = 1 AND d.id = ?
                            """,
                        arguments: [place.id]
                    )
                    guard let key, let name = key.range(of: Data(place.district.utf8)) else {
                        throw Flaw("a place has no entry")
                    }
                    prefixes[place.district] = key[..<name.upperBound]
                }
                return prefixes
            }
        }

        func run(district: String, limit: Int) throws -> [Place] {
            guard let prefix = prefixes[district] else { return [] }
            let decoder = DocumentDecoder()
            return try pool.read { database in
                let statement = try database.cachedStatement(sql: Self.sql)
                let blobs = try Data.fetchCursor(
                    statement,
                    arguments: [prefix, prefix + [0xFF], limit]
                )
                var places: [Place] = []
                while let blob = try blobs.next() {
                    places.append(try decoder.decode(from: DocumentBody(bytes: [UInt8](blob))))
                }
                return places
            }
        }
    }
}
