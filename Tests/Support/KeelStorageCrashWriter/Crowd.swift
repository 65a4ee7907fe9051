#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite

/// One of several processes on one file, each with several adapters, that performs random operations of apps.
///
/// It prints the number of each batch once its commit has returned, as `CrowdTests` expects. Each batch adds 1 to a
/// counter of this process and sets one of its seven documents. A batch has an id and is sometimes repeated.
struct Crowd {
    let file: String
    let name: String
    let seed: UInt64

    func run() async throws -> Never {
        var random = Generator(state: seed)
        var adapters = [try open(), try open()]
        var number = 0
        while true {
            let place = Int.random(in: 0..<adapters.count, using: &random)
            switch Int.random(in: 0..<14, using: &random) {
            case 0: adapters.append(try open())
            case 1 where adapters.count > 1: try adapters.remove(at: place).close()
            case 2 where adapters.count > 1:
                // Released without being closed.
                adapters.remove(at: place)
            case 3: _ = try await adapters[place].changes(ChangeRequest(limit: 50))
            case 4:
                // Usually an index that no process has built yet.
                let field = FieldPath("f\(Int.random(in: 0..<40, using: &random))")
                let index = IndexDefinition("crowd", [.ascending(field), .descending("n")])
                try await adapters[place].prepare(StorageSchema(indexes: [index]))
            case 5:
                let copy = URL(fileURLWithPath: "\(file).\(name)-\(seed).\(number)")
                try await adapters[place].backup(to: copy)
                try FileManager.default.removeItem(at: copy)
            case 6:
                number += 1
                try await listen(to: adapters[place], while: batch(number), adapters[0])
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
            case 7: try await transact(on: adapters[place])
            default:
                number += 1
                let batch = batch(number)
                try await commit(batch, to: adapters[place])
                FileHandle.standardOutput.write(Data("\(number)\n".utf8))
                // Simulates a lost reply: the batch is repeated through any adapter.
                if Int.random(in: 0..<4, using: &random) == 0 {
                    try await commit(batch, to: adapters[adapters.count - 1])
                }
            }
        }
    }

    /// Listens through one adapter until it shows a commit of another.
    ///
    /// Exits with a failure if the changes of a snapshot do not lead to its documents.
    private func listen(
        to adapter: SQLiteStorageAdapter,
        while batch: WriteBatch,
        _ writer: SQLiteStorageAdapter
    ) async throws {
        var snapshots = StorageClient(adapter).listen(to: DocumentQuery("crowd"))
            .makeAsyncIterator()
        var shown = Set(try await snapshots.next()?.documents.map(\.path) ?? [])
        let revision = try await writer.commit([batch])[0].get().outcomes.last?.revision
        let path = batch.writes.last?.path
        while let snapshot = try await snapshots.next() {
            for change in snapshot.changes {
                if case .removed = change.kind {
                    shown.remove(change.document.path)
                } else {
                    shown.insert(change.document.path)
                }
            }
            if shown != Set(snapshot.documents.map(\.path)) { exit(3) }
            let document = snapshot.documents.first { $0.path == path }
            // No other process writes to this document, because names are unique.
            if document?.revision == revision { return }
        }
        exit(4)
    }

    /// Counts in a transaction whose body must see both counters at one commit.
    private func transact(on adapter: SQLiteStorageAdapter) async throws {
        let (one, other) = (DocumentPath("pairs/\(name)-1"), DocumentPath("pairs/\(name)-2"))
        try await StorageClient(adapter).transaction { transaction in
            let first = try await transaction.findDocument(one)?["n"]?.integerValue ?? 0
            let second = try await transaction.findDocument(other)?["n"]?.integerValue ?? 0
            if first != second { exit(5) }
            try transaction.set(one, ["n": .integer(first + 1)])
            try transaction.set(other, ["n": .integer(first + 1)])
        }
    }

    private func open() throws -> SQLiteStorageAdapter {
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.busyTimeout = .seconds(30)
        configuration.retention = .init(bytes: 4000, tombstoneBytes: 4000)
        return try SQLiteStorageAdapter(at: .file(file), configuration: configuration)
    }

    private func batch(_ number: Int) -> WriteBatch {
        let count = FieldChange("n", .transform(.increment(1)))
        let fields: DocumentFields = [
            "n": .integer(Int64(number)), "by": .string(name),
            "f\(number % 40)": .integer(Int64(number)),
        ]
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

    /// SplitMix64 (Steele, Lea and Flood, 2014), so that a seed reproduces the choices.
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
