#if SQLite
import Foundation
import GRDB
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import Testing

@Suite("Registered readers of the change log")
struct LogReaderTests {
    private static let day = Duration.seconds(86_400)

    let folder: TemporaryFolder
    private let clock = WallClock()

    init() throws { folder = try TemporaryFolder() }

    /// An adapter that drops everything that no reader needs.
    private func adapter(age: Duration = .seconds(5 * 86_400)) throws -> SQLiteStorageAdapter {
        try folder.adapter { configuration in
            configuration.retention = .init(
                age: age,
                bytes: 0,
                tombstoneAge: age,
                tombstoneBytes: 0
            )
            configuration.now = { [clock] in clock.now }
        }
    }

    private func changeCount(_ adapter: SQLiteStorageAdapter, after cursor: ChangeCursor) async
        -> Int?
    {
        try? await adapter.allChanges(after: cursor).changes.count
    }

    private func fill(_ adapter: SQLiteStorageAdapter, _ ids: ClosedRange<Int>) async throws {
        for number in ids { try await adapter.set("a/\(number)", [:]) }
        try await adapter.compact()
    }

    @Test("the log keeps unread changes of a registered reader for its lifetime")
    func lifetime() async throws {
        let adapter = try adapter(age: Self.day * 100)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.registerReader("sync", at: start, lifetime: Self.day * 10)
        try await fill(adapter, 1...20)
        for passed in 1...9 {
            clock.move(by: Self.day)
            try await adapter.compact()
            #expect(await changeCount(adapter, after: start) == 20, "after \(passed) days")
        }
        for _ in 10...12 {
            clock.move(by: Self.day)
            try await adapter.compact()
        }
        #expect(await changeCount(adapter, after: start) == nil)
        let error = await storageError { try await adapter.registerReader("sync", at: start) }
        #expect(error?.code == .cursorExpired)
    }

    @Test(
        "a stalled reader holds the log only for the retention age and its lifetime"
    )
    func bound() async throws {
        let adapter = try adapter()
        let start = try #require(try await adapter.set("a/0", [:]).position)
        var held = 0
        for passed in 0..<30 {
            let error = await storageError {
                try await adapter.registerReader("sync", at: start, lifetime: Self.day * 10)
            }
            guard error == nil else {
                #expect(error?.code == .cursorExpired)
                break
            }
            held = passed
            try await fill(adapter, passed...passed + 1)
            clock.move(by: Self.day)
        }
        #expect((14...17).contains(held))
    }

    @Test("an unregistered reader does not hold the log")
    func leaves() async throws {
        let adapter = try adapter()
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.registerReader("sync", at: start)
        try await fill(adapter, 1...5)
        #expect(await changeCount(adapter, after: start) == 5)
        try await adapter.unregisterReader("sync")
        try await adapter.compact()
        #expect(await changeCount(adapter, after: start) == nil)
    }

    @Test("a request with a reader registers it, and a zero lifetime unregisters it")
    func requests() async throws {
        let adapter = try adapter()
        let start = try #require(try await adapter.set("a/0", [:]).position)
        var request = ChangeRequest(after: start)
        request.reader = ChangeReader("copy")
        _ = try await adapter.changes(request)
        try await fill(adapter, 1...5)
        let page = try await adapter.changes(request)
        #expect(page.changes.count == 5)
        request.reader = ChangeReader("copy", lifetime: .zero)
        request.after = page.next
        _ = try await adapter.changes(request)
        try await fill(adapter, 6...7)
        #expect(await changeCount(adapter, after: start) == nil)
        #expect(await changeCount(adapter, after: page.next) == nil)
        // A name that is too long is ignored, and the page is returned nevertheless.
        request.after = nil
        request.reader = ChangeReader(String(repeating: "x", count: 1_000))
        #expect(try await adapter.changes(request).changes.count == 8)
    }

    @Test("a read-only adapter answers a request with a reader")
    func readOnly() async throws {
        let adapter = try adapter()
        try await adapter.set("a/0", [:])
        let reading = try folder.adapter { $0.isReadOnly = true }
        var request = ChangeRequest()
        request.reader = ChangeReader("copy")
        #expect(try await reading.changes(request).changes.count == 1)
    }

    @Test("a clock that jumps to 2040 and back removes no reader")
    func leaps() async throws {
        let adapter = try adapter(age: Self.day * 100)
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.registerReader("day", at: start, lifetime: Self.day)
        for number in 1...20 {
            for leap in [Self.day * 365 * 14, Self.day * 365 * -14] {
                clock.move(by: leap)
                try await adapter.set("a/\(number)", ["n": .integer(leap < .zero ? 1 : 2)])
                try await adapter.compact()
                clock.move(by: .seconds(600))
                try await adapter.compact()
            }
        }
        #expect(await changeCount(adapter, after: start) == 20)
    }

    @Test("the number of stored readers is limited")
    func names() async throws {
        let adapter = try adapter()
        let start = try #require(try await adapter.set("a/0", [:]).position)
        try await adapter.databasePool.write { database in
            for number in 0..<1_000 {
                try database.execute(
                    sql: "INSERT INTO readers(name, seq, seen) VALUES (?, 1, ?)",
                    arguments: ["r\(number)", clock.now.microseconds]
                )
            }
        }
        try await adapter.registerReader("r7", at: start)
        try await adapter.registerReader("new", at: start)
        let counts = try await adapter.databasePool.read { database in
            try Int.fetchOne(database, sql: "SELECT count(*) FROM readers") ?? 0
        }
        #expect(counts == 1_000)
    }

    @Test(
        "only a named reader completes a slow copy with a short log",
        arguments: [true, false]
    )
    func slowCopy(isNamed: Bool) async throws {
        let adapter = try adapter(age: .zero)
        for number in 0..<300 { try await adapter.set("a/\(number)", ["n": 0]) }
        var request = ChangeRequest(limit: 10)
        request.reader = isNamed ? ChangeReader("copy") : nil
        var copy: [DocumentPath: Document] = [:]
        var pages = 0
        var failure: StorageError?
        copying: while pages < 500 {
            let page: ChangePage
            do throws(StorageError) { page = try await adapter.changes(request) } catch {
                failure = error
                break copying
            }
            pages += 1
            for change in page.changes {
                if case .current(let document) = change {
                    copy[change.path] = document
                } else {
                    copy[change.path] = nil
                }
            }
            request.after = page.next
            guard !page.isCaughtUp else { break }
            // Each page takes an hour, with writes meanwhile.
            clock.move(by: .seconds(3_600))
            for number in 0..<3 {
                let id = (pages * 37 + number * 101) % 300
                try await adapter.set("a/\(id)", ["n": .integer(Int64(pages))])
            }
            try await adapter.delete("a/\(pages * 53 % 300)")
            try await adapter.set("a/new\(pages)", ["n": 1])
            try await adapter.compact()
        }
        guard isNamed else {
            #expect(failure?.code == .cursorExpired)
            return
        }
        #expect(failure == nil)
        #expect((30..<500).contains(pages))
        let stored = try await adapter.found(DocumentQuery("a")).documents
        #expect(copy.values.sorted { $0.path < $1.path } == stored.sorted { $0.path < $1.path })
        #expect(try await adapter.checkIntegrity().isSound)
    }
}
#endif
