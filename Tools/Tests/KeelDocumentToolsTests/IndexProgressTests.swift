import Foundation
import KeelDocumentTools
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("The progress of indexes")
struct IndexProgressTests {
    private struct Unreachable: Error {}

    /// The looks at a store, in the order of the test; the last one repeats.
    private final class Looks: Sendable {
        private let left: Mutex<[[(name: String, progress: Double)]?]>

        init(_ looks: [[(name: String, progress: Double)]?]) { left = Mutex(looks) }

        func next() throws -> [(name: String, progress: Double)] {
            let look = left.withLock { $0.count > 1 ? $0.removeFirst() : $0[0] }
            guard let look else { throw Unreachable() }
            return look
        }
    }

    private func reports(
        of looks: [[(name: String, progress: Double)]?],
        endingAfter mostUnchanged: Int = .max
    ) async -> (shares: [Double], end: IndexProgress?) {
        let looks = Looks(looks)
        let shares = Mutex<[Double]>([])
        let end = await IndexProgress.follow(
            every: .zero,
            endingAfter: mostUnchanged,
            of: { try looks.next() },
            { progress in shares.withLock { $0.append(progress.share) } }
        )
        return (shares.withLock { $0 }, end)
    }

    @Test("Progress is reported once for each change, until the indexes are complete")
    func complete() async {
        let found = await reports(of: [
            [("a", 0.5), ("b", 0.1)], [("a", 0.5), ("b", 0.1)], nil, [("a", 0.5), ("b", 0.4)],
            [("a", 0.5), ("b", 1)], [("a", 1), ("b", 1)],
        ])
        #expect(found.shares == [0.1, 0.4, 0.5])
        #expect(found.end == nil)
        #expect(await reports(of: [[]]).shares.isEmpty)
    }

    @Test("Progress that stands still ends the reports, with the names of the indexes")
    func standstill() async {
        let found = await reports(
            of: [[("a", 1), ("b", 0.2)], [("a", 1), ("b", 0.3)]],
            endingAfter: 3
        )
        #expect(found.shares == [0.2, 0.3])
        #expect(found.end?.names == ["b"])
        #expect(found.end?.share == 0.3)
    }

    @Test("A build that has finished ends its reports, and leaves nothing incomplete")
    func finished() async throws {
        let scratch = try Scratch()
        let store = try scratch.store()
        try await StorageClient(store).setDocument("notes/1", ["n": 1])
        let index = IndexDefinition("notes", [.ascending("n")])
        try await store.prepare(StorageSchema(indexes: [index]))
        try await store.finishIndexes(every: .seconds(3600)) { _ in }
        #expect(try await store.indexes().map(\.progress) == [1])
        try store.close()
    }
}
