internal import KeelStorage
package import KeelStorageAdapting
internal import KeelTestKit
import Testing

/// Random writes to a store with a short log, and readers that read at random times.
///
/// A reader that has caught up has the store's state. Its cursor may expire only if the log drops changes.
package struct CompactedLogFuzz: Sendable {
    private struct Reader {
        var cursor: ChangeCursor?
        var documents: [DocumentPath: Document] = [:]
        var removals: [DocumentPath: Timestamp] = [:]
    }

    package let wall = ClockWalk.Wall()
    private let seed = SeededRandom.chosenSeed()
    private let dropsNothing: Bool

    /// - Parameter dropsNothing: Whether the log keeps the last change of every document.
    package init(dropsNothing: Bool) { self.dropsNothing = dropsNothing }

    /// Runs the test on two adapters of one store, so that periods of marks alternate.
    ///
    /// `turn` chooses the length of the log, and `open` opens another adapter of the store, which takes the time from
    /// ``wall``.
    package func run(
        turn: Int,
        open: (LogRetention) async throws -> any StorageAdapter,
        close: (any StorageAdapter) async throws -> Void
    ) async throws {
        var random = SeededRandom(seed: seed)
        func opened(_ bytes: Int) async throws -> any StorageAdapter {
            let most = dropsNothing ? Int.max : 1_000
            return try await open(LogRetention(bytes: bytes, tombstoneBytes: most))
        }
        var adapters = [try await opened(0), try await opened(turn * 300)]
        var readers = Array(repeating: Reader(), count: 5)
        var removed: [DocumentPath: Timestamp] = [:]
        for step in 0..<400 {
            try await write(to: adapters[step % 2], step, &random, &removed)
            wall.move(by: .milliseconds(Int.random(in: 0...2, using: &random)))
            if Int.random(in: 0..<40, using: &random) == 0 {
                try await close(adapters[step % 2])
                adapters[step % 2] = try await opened(turn * 100)
            }
            guard Int.random(in: 0..<3, using: &random) == 0 else { continue }
            let number = Int.random(in: 0..<readers.count, using: &random)
            let isSound = try await follow(&readers[number], in: adapters[0], &random)
            #expect(isSound || !dropsNothing, "seed \(seed), step \(step)")
            let stored = try await contents(of: adapters[1])
            #expect(readers[number].documents == stored, "seed \(seed), step \(step)")
            for (path, time) in readers[number].removals {
                #expect(removed[path] == time, "seed \(seed), step \(step), \(path)")
            }
        }
        for adapter in adapters { try await close(adapter) }
    }

    private func write(
        to adapter: any StorageAdapter,
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
                let document = Document.stub(
                    path,
                    ["r": .integer(Int64(step))],
                    revision: Int64.random(in: 1...9, using: &random),
                    at: Timestamp(microseconds: 1_780_000_100_000_000)
                )
                writes.append(DocumentWrite(path, .replicate(document)))
            default:
                let body = DocumentBody(["n": .integer(Int64(step))])
                writes.append(DocumentWrite(path, .set(body)))
            }
        }
        let results = try await adapter.commit([WriteBatch(writes)])
        let receipt = try #require(results.first).get()
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
        in adapter: any StorageAdapter,
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
        of adapter: any StorageAdapter
    ) async throws -> [DocumentPath: Document] {
        let query = try QueryValidation.checked(DocumentQuery("a"))
        let result = try await adapter.read(ReadRequest(.query(query)))
        guard case .found(let documents) = result.payload else { return [:] }
        return Dictionary(uniqueKeysWithValues: documents.map { ($0.path, $0) })
    }
}
