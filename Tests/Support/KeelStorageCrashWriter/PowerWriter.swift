#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite

/// A writer of numbered batches under `PowerRecorder`, through two adapters, that sometimes compacts the file.
///
/// Batch n sets `shared/a`, `shared/b` and `shared/c` to n, and `own/(n % 20)`.
struct PowerWriter {
    let file: String
    let log: String
    let durability: SQLiteStorageAdapter.Configuration.Durability
    let batchCount: Int

    func run() async throws {
        PowerRecorder.install(log: log)
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.durability = durability
        configuration.retention = .init(bytes: 4000, tombstoneBytes: 4000)
        let adapters = try (0..<2).map { _ in
            try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
        }
        for number in 1...batchCount {
            let filling = String(repeating: "x", count: number % 40 * 100)
            let fields: DocumentFields = [
                "n": .integer(Int64(number)), "filling": .string(filling),
            ]
            let names = ["shared/a", "shared/b", "shared/c", "own/\(number % 20)"]
            let batch = WriteBatch(
                id: "batch-\(number)",
                names.map { DocumentWrite(DocumentPath($0), .set(DocumentBody(fields))) }
            )
            _ = try await adapters[number % 2].commit([batch])[0].get()
            PowerRecorder.shared.acknowledge(Int64(number))
            if number == batchCount / 2 { try await adapters[0].compact() }
        }
        for adapter in adapters { try adapter.close() }
    }
}
#endif
