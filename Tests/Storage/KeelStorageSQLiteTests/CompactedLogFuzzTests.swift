#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

/// Random writes to a store with a short log, and readers that read at random times.
///
/// At a consistent position, a reader has the store's state; otherwise its cursor has expired, if the log may have
/// dropped changes.
@Suite("A compacted log reports the same changes as a full one", .timeLimit(.minutes(5)))
struct CompactedLogFuzzTests {
    private struct Reader {
        var cursor: ChangeCursor?
        var documents: [DocumentPath: Document] = [:]
        var removals: [DocumentPath: Timestamp] = [:]
    }

    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder() }

    @Test(arguments: [true, false], 1...4)
    func agrees(dropsNothing: Bool, turn: Int) async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        let clock = WallClock()
        let open = { [folder] (bytes: Int) in
            try folder.adapter { configuration in
                configuration.retention = .init(
                    bytes: bytes,
                    tombstoneBytes: dropsNothing ? .max : 1_000
                )
                configuration.now = { clock.now }
            }
        }
        // Two adapters on one file, so that periods of marks alternate.
        var adapters = try [open(0), open(turn * 300)]
        var readers = Array(repeating: Reader(), count: 5)
        var removed: [DocumentPath: Timestamp] = [:]
        for step in 0..<400 {
            let adapter = adapters[step % 2]
            try await write(adapter, step, &random, &removed)
            clock.move(by: .milliseconds(Int.random(in: 0...2, using: &random)))
            if Int.random(in: 0..<40, using: &random) == 0 {
                try adapter.close()
                adapters[step % 2] = try open(turn * 100)
            }
            if Int.random(in: 0..<3, using: &random) == 0 {
                let number = Int.random(in: 0..<readers.count, using: &random)
                let isSound = try await follow(&readers[number], adapters[0], &random)
                #expect(isSound || !dropsNothing, "seed \(seed), step \(step)")
                let stored = try await contents(adapters[1])
                #expect(readers[number].documents == stored, "seed \(seed), step \(step)")
                for (path, time) in readers[number].removals {
                    #expect(removed[path] == time, "seed \(seed), step \(step), \(path)")
                }
            }
        }
        #expect(try await adapters[0].checkIntegrity().isSound, "seed \(seed)")
        let rows = try await adapters[0].databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM changes") ?? 0
        }
        if dropsNothing { #expect(rows > 0) } else { #expect(rows < 120, "seed \(seed)") }
        for adapter in adapters { try adapter.close() }
    }

    private func write(
        _ adapter: SQLiteStorageAdapter,
        _ step: Int,
        _ random: inout SeededRandom,
        _ removed: inout [DocumentPath: Timestamp]
    ) async throws {
        var writes: [DocumentWrite] = []
        for _ in 0..<Int.random(in: 1...4, using: &random) {
            let path = DocumentPath("a/\(Int.random(in: 0..<24, using: &random))")
            switch Int.random(in: 0..<8, using: &random) {
            case 0..<3: writes.append(.delete(path))
            case 3:
                // A replica may lower a revision, or repeat one.
                let document = Document(
                    path: path,
                    body: DocumentBody(["r": .integer(Int64(step))]),
                    revision: Revision(number: Int64.random(in: 1...9, using: &random)),
                    createTime: Timestamp(microseconds: 1_780_000_100_000_000),
                    updateTime: Timestamp(microseconds: 1_780_000_100_000_000)
                )
                writes.append(DocumentWrite(path, .replicate(document)))
            default:
                let body = DocumentBody(["n": .integer(Int64(step))])
                writes.append(DocumentWrite(path, .set(body)))
            }
        }
        let receipt = try await adapter.apply(WriteBatch(writes))
        for (write, outcome) in zip(writes, receipt.outcomes) {
            if outcome.revision != nil {
                removed[write.path] = nil
            } else {
                removed[write.path] = outcome.updateTime ?? removed[write.path]
            }
        }
    }

    /// Reads to a consistent position; returns whether the cursor was valid.
    private func follow(
        _ reader: inout Reader,
        _ adapter: SQLiteStorageAdapter,
        _ random: inout SeededRandom
    ) async throws -> Bool {
        var isSound = true
        var request = ChangeRequest(after: reader.cursor)
        while true {
            request.limit = Int.random(in: 1...20, using: &random)
            let page: ChangePage
            do throws(StorageError) { page = try await adapter.changes(request) } catch {
                guard error.code == .cursorExpired else { throw error }
                reader = Reader()
                request.after = nil
                isSound = false
                continue
            }
            for change in page.changes {
                switch change {
                case .current(let document):
                    reader.documents[change.path] = document
                    reader.removals[change.path] = nil
                case .removed(_, _, let time):
                    reader.documents[change.path] = nil
                    if time == nil { Issue.record("a removal has no time") }
                    reader.removals[change.path] = time
                default: Issue.record("\(change)")
                }
            }
            request.after = page.next
            guard page.isCaughtUp else { continue }
            reader.cursor = page.next
            return isSound
        }
    }

    private func contents(
        _ adapter: SQLiteStorageAdapter
    ) async throws -> [DocumentPath: Document] {
        let documents = try await adapter.found(DocumentQuery("a")).documents
        return Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
    }
}
#endif
