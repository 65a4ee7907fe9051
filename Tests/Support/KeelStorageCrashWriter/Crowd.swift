#if SQLite
import Foundation
import KeelStorage
import KeelStorageSQLite

/// One of several processes on one file, each with several adapters, which does at random what apps do.
///
/// It prints the number of each batch once its commit has returned, as `CrowdTests` expects. Each batch adds
/// one to a counter of this process and sets a document of its own, under an id, and is sometimes repeated.
struct Crowd {
    let file: String
    let name: String
    let seed: UInt64

    func run() async throws -> Never {
        var random = Generator(state: seed)
        var adapters = [try open(), try open()]
        var number = 0
        while true {
            let index = Int.random(in: 0..<adapters.count, using: &random)
            switch Int.random(in: 0..<12, using: &random) {
            case 0:
                adapters.append(try open())
            case 1 where adapters.count > 1:
                try adapters.remove(at: index).close()
            case 2 where adapters.count > 1:
                // Let go without being closed.
                adapters.remove(at: index)
            case 3:
                _ = try await adapters[index].changes(ChangeRequest(limit: 50))
            case 4:
                try await adapters[index].prepare(
                    StorageSchema(indexes: [IndexDefinition("crowd", [.ascending("n")])])
                )
            case 5:
                let copy = URL(fileURLWithPath: "\(file).\(name)-\(seed).\(number)")
                try await adapters[index].backup(to: copy)
                try FileManager.default.removeItem(at: copy)
            default:
                number += 1
                let batch = batch(number)
                try await commit(batch, to: adapters[index])
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
                // A reply that was lost: the batch comes again, through any adapter.
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try await commit(batch, to: adapters[adapters.count - 1])
                }
            }
        }
    }

    private func open() throws -> SQLiteStorageAdapter {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.busyTimeout = .seconds(30)
        configuration.retention = .init(count: 100)
        return try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
    }

    private func batch(_ number: Int) -> WriteBatch {
        let count = FieldChange("n", .transform(.increment(1)))
        let fields: DocumentFields = ["n": .integer(Int64(number)), "by": .string(name)]
        return WriteBatch(
            id: "\(name)-\(seed)-\(number)",
            [
                DocumentWrite("crowd/\(name)", .update([count])),
                DocumentWrite("crowd/\(name)-\(number % 7)", .set(DocumentBody(fields))),
            ]
        )
    }

    private func commit(_ batch: WriteBatch, to adapter: SQLiteStorageAdapter) async throws {
        _ = try await adapter.commit([batch])[0].get()
    }

    /// SplitMix64 (Steele, Lea and Flood, 2014), so that a seed gives the same choices again.
    private struct Generator: RandomNumberGenerator {
        var state: UInt64

        mutating func next() -> UInt64 {
            state &+= 0x9E37_79B9_7F4A_7C15
            var mixed = state
            mixed = (mixed ^ (mixed >> 30)) &* 0xBF58_476D_1CE4_E5B9
            mixed = (mixed ^ (mixed >> 27)) &* 0x94D0_49BB_1331_11EB
            return mixed ^ (mixed >> 31)
        }
    }
}
#endif
