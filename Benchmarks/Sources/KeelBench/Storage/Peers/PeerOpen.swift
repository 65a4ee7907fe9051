import Foundation
import GRDB
import KeelStorage

/// Opens a file and reads one row; closing is not measured.
enum PeerOpen {
    static func run(_ path: String, id: String) throws -> Double {
        let start = ContinuousClock.now
        let pool = try DatabasePool(path: path, configuration: PeerStore.settings)
        let blob = try pool.read { database in
            try Data.fetchOne(
                database,
                sql: "SELECT body FROM documents WHERE id = ?",
                arguments: [id]
            )
        }
        let duration = start.duration(to: .now)
        guard blob != nil else { throw Flaw("the row is missing") }
        try pool.close()
        return duration.microseconds
    }
}
