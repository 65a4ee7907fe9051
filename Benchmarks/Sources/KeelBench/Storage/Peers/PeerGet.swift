import Foundation
import GRDB
import KeelStorage

/// Reads one row by its id with a cached statement, and decodes its blob.
enum PeerGet {
    private static let sql = "SELECT body FROM documents WHERE id = ?"

    /// Returns the blob without decoding it.
    static func body(_ id: String, in store: PeerStore) throws -> Data? {
        try store.pool.read { database in
            try Data.fetchOne(try database.cachedStatement(sql: sql), arguments: [id])
        }
    }

    /// Decodes with Keel's decoder.
    static func withDocumentDecoder(_ id: String, in store: PeerStore) throws -> Place? {
        guard let blob = try body(id, in: store) else { return nil }
        return try DocumentDecoder().decode(from: DocumentBody(bytes: [UInt8](blob)))
    }

    /// Decodes with one instance of Foundation's decoder.
    static func withJSONDecoder(
        _ id: String,
        in store: PeerStore,
        _ decoder: JSONDecoder
    ) throws -> Place? {
        try body(id, in: store).map { try decoder.decode(Place.self, from: $0) }
    }
}

/// Reads all rows and decodes their blobs.
enum PeerList {
    static func run(in store: PeerStore) throws -> [Place] {
        try store.pool.read { database in
            let blobs = try Data.fetchCursor(
                database,
                sql: "SELECT body FROM documents ORDER BY id"
            )
            let decoder = DocumentDecoder()
            var places: [Place] = []
            while let blob = try blobs.next() {
                places.append(try decoder.decode(from: DocumentBody(bytes: [UInt8](blob))))
            }
            return places
        }
    }
}
