import KeelStorage
import KeelStorageAdapting
import KeelTestSupport
import Synchronization
import Testing

/// A store in memory ends with its process, and its clients may outlive it.
@Suite("Cursors of the in-memory adapter")
struct MemoryCursorTests {
    /// Returns a store whose commits have these times, in microseconds.
    private static func store(_ times: [Int64]) -> InMemoryStorageAdapter {
        let times = Mutex(times[...])
        return InMemoryStorageAdapter {
            Timestamp(microseconds: times.withLock { $0.popFirst() ?? 0 })
        }
    }

    private static func expectRefusal(
        of cursor: ChangeCursor,
        by store: InMemoryStorageAdapter
    ) async {
        await expectError(StorageError.self, .cursorExpired) {
            try await store.changes(ChangeRequest(after: cursor))
        }
    }

    @Test("A cursor of an earlier store expires, also if its time is between two changes")
    func restarted() async throws {
        let former = Self.store([2_000])
        let empty = try await former.changes(ChangeRequest()).next
        try await StorageClient(former).setDocument("notes/1", ["n": 1])
        let cursor = try await former.changes(ChangeRequest()).next
        let store = Self.store([1_000, 3_000])
        await Self.expectRefusal(of: empty, by: store)
        for number in 2...3 {
            try await StorageClient(store).setDocument("notes/\(number)", ["n": 1])
        }
        await Self.expectRefusal(of: empty, by: store)
        await Self.expectRefusal(of: cursor, by: store)
    }

    @Test("A cursor of an unfinished copy of an earlier store expires")
    func unfinished() async throws {
        let former = Self.store([1_000, 2_000])
        let store = Self.store([1_000, 2_000])
        for number in 1...2 {
            try await StorageClient(former).setDocument("notes/\(number)", ["n": 1])
            try await StorageClient(store).setDocument("notes/\(number)", ["n": 2])
        }
        let page = try await former.changes(ChangeRequest(limit: 1))
        #expect(page.changes.map(\.path) == ["notes/1"])
        await Self.expectRefusal(of: page.next, by: store)
        #expect(try await former.changes(ChangeRequest(after: page.next)).isCaughtUp)
    }

    @Test("Cursors of a store grow with its changes")
    func ordered() async throws {
        // From one byte of microseconds after the first change to six; then the clock is set back.
        let store = Self.store([1_000, 1_254, 1_256, 2_000_000, 1 << 40, 1_000])
        var cursors = [try await store.changes(ChangeRequest()).next]
        for number in 1...6 {
            try await StorageClient(store).setDocument("notes/\(number)", ["n": 1])
            cursors.append(try await store.changes(ChangeRequest()).next)
        }
        #expect(cursors == cursors.sorted())
        #expect(Set(cursors).count == 7)
        for (number, cursor) in cursors.enumerated() {
            let page = try await store.changes(ChangeRequest(after: cursor))
            #expect(page.changes.count == 6 - number)
        }
    }
}
