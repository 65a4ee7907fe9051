import Foundation
import GRDB
import KeelStorage

/// Runs hand-written SQL over the two indexed columns, which the composite index answers in order,
/// and decodes the blobs with the decoder that Keel uses.
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
}
