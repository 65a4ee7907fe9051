import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Document migrations")
struct MigrationTests {
    private static let migrations = DocumentMigrations([
        DocumentMigration("restaurants", to: 1) { fields, _ in
            fields["cuisines"] = .array([fields["cuisine"] ?? .null])
            fields["cuisine"] = nil
        },
        DocumentMigration("restaurants", to: 2) { fields, _ in fields["open"] = true },
    ])

    let adapter = InMemoryStorageAdapter()
    var old: StorageClient { StorageClient(adapter) }
    var new: StorageClient { StorageClient(adapter.migrating(Self.migrations)) }

    @Test("An old document is read in its current form and stored so by the next write")
    func migratesLazily() async throws {
        try await old.setDocument("restaurants/1", ["cuisine": "Irish"])
        let migrated: DocumentFields = ["cuisines": ["Irish"], "open": true, "_version": 2]
        #expect(try await new.getDocument("restaurants/1").fields() == migrated)
        #expect(try await old.getDocument("restaurants/1").fields() == ["cuisine": "Irish"])
        try await new.updateDocument("restaurants/1", [.set("name", to: "Reynolds")])
        let stored = try await old.getDocument("restaurants/1").fields()
        #expect(stored["cuisines"] == ["Irish"])
        #expect(stored["cuisine"] == nil)
        #expect(stored["name"] == "Reynolds")
    }

    @Test("A new document is marked with the current version")
    func stamps() async throws {
        try await new.setDocument("restaurants/1", ["cuisines": []])
        #expect(try await old.getDocument("restaurants/1")["_version"] == 2)
        try await new.setDocument("other/1", ["a": 1])
        #expect(try await old.getDocument("other/1").fields() == ["a": 1])
    }

    @Test("Collections with canonically equivalent names have steps of their own")
    func distinguishesByBytes() async throws {
        let migrations = DocumentMigrations([
            DocumentMigration("\u{e9}", to: 1) { fields, _ in fields["composed"] = true },
            DocumentMigration("e\u{301}", to: 1) { fields, _ in fields["decomposed"] = true },
        ])
        let names: [[UInt8]] = migrations.collections.map { Array($0.utf8) }
        #expect(names == [[0x65, 0xcc, 0x81], [0xc3, 0xa9]])
        try await old.setDocument("\u{e9}/1", ["n": 1])
        try await old.setDocument("e\u{301}/1", ["n": 2])
        let client = StorageClient(adapter.migrating(migrations))
        let composed: DocumentFields = ["n": 1, "composed": true, "_version": 1]
        let decomposed: DocumentFields = ["n": 2, "decomposed": true, "_version": 1]
        #expect(try await client.getDocument("\u{e9}/1").fields() == composed)
        #expect(try await client.getDocument("e\u{301}/1").fields() == decomposed)
    }

    @Test("A document of a later version is rejected, not damaged")
    func refusesLater() async throws {
        try await old.setDocument("restaurants/1", ["_version": 3])
        await expectError(StorageError.self, .schemaTooNew) {
            try await new.getDocument("restaurants/1")
        }
    }

    /// Stores 40 documents, of which the first ones have a later version.
    private func store(later count: Int) async throws {
        try await old.commit { batch in
            for number in 0..<40 {
                let version: DocumentValue = number < count ? 3 : 2
                let fields: DocumentFields = ["n": .integer(Int64(number)), "_version": version]
                try batch.set("restaurants/\(number)", fields)
            }
        }
    }

    @Test("Documents that cannot be read hide no others from a listener with a limit")
    func listensBehindUnreadable() async throws {
        try await store(later: 20)
        let query = DocumentQuery("restaurants").order(by: "n").limit(to: 2)
        var snapshots = new.listen(to: query).makeAsyncIterator()
        let first = try #require(try await snapshots.next())
        #expect(first.documents.map(\.id) == ["20", "21"])
        #expect(first.failures.count == 20)
    }

    @Test("A listener with a limit reads again after removals beside an unreadable document")
    func refillsBesideUnreadable() async throws {
        try await store(later: 1)
        let query = DocumentQuery("restaurants").order(by: "n").limit(to: 2)
        var snapshots = new.listen(to: query).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.id) == ["1", "2"])
        try await old.commit { batch in
            for number in 1..<30 { batch.delete("restaurants/\(number)") }
        }
        #expect(try await snapshots.next()?.documents.map(\.id) == ["30", "31"])
    }

    @Test("An eager run migrates all documents and continues after an interruption")
    func migratesEagerly() async throws {
        for number in 0..<50 {
            try await old.setDocument("restaurants/\(number)", ["cuisine": "Irish"])
            try await old.setDocument("towns/a/restaurants/\(number)", ["cuisine": "Thai"])
        }
        let failing = MeddledStorageAdapter(
            adapter,
            beforeCommits: { if $0 > 3 { throw StorageError(.diskFull, "no room left") } }
        ).migrating(Self.migrations)
        await #expect(throws: StorageError.self) { try await failing.migrateAll(batchSize: 10) }
        let rest = try await adapter.migrating(Self.migrations).migrateAll(batchSize: 10)
        #expect(rest.migrated > 0 && rest.migrated < 100 && rest.failures.isEmpty)
        let found = try await old.queryDocuments(DocumentQuery(group: "restaurants"))
        #expect(found.count == 100)
        #expect(found.allSatisfy { $0["_version"] == 2 && $0["cuisine"] == nil })
        #expect(try await adapter.migrating(Self.migrations).migrateAll().migrated == 0)
    }

    @Test("The report counts the documents of a batch of which another writer has changed one")
    func countsBesideWriters() async throws {
        for number in 1...3 {
            try await old.setDocument("restaurants/\(number)", ["cuisine": "Irish"])
        }
        let isFirst = Mutex(true)
        let contended = adapter.failing { call in
            guard case .commit(let batches) = call, batches.count == 3 else { return nil }
            return isFirst.withLock { isFirst -> StorageFault? in
                defer { isFirst = false }
                return isFirst ? .failBatches([1], .conflict) : nil
            }
        }
        let report = try await contended.migrating(Self.migrations).migrateAll()
        #expect(report.migrated == 3)
        #expect(try await adapter.migrating(Self.migrations).migrateAll().migrated == 0)
    }

    /// Stores consecutive unreadable documents, and a separate one after others.
    private func storeUnreadable() async throws {
        for number in 10..<22 {
            let isTooNew = (12...17).contains(number) || number == 20
            try await old.setDocument(
                "restaurants/\(number)",
                isTooNew ? ["_version": 3] : ["cuisine": "Irish"]
            )
        }
    }

    private static let readable = ["10", "11", "18", "19", "21"]
    private static let unreadable = ["12", "13", "14", "15", "16", "17", "20"]

    @Test("Pages continue after documents that cannot be migrated and name them", arguments: 1...13)
    func pages(size: Int) async throws {
        try await storeUnreadable()
        var page = try await new.page(DocumentQuery("restaurants"), size: size)
        var (found, failures) = ([String](), Set<String>())
        while true {
            #expect(page.items.count <= size)
            found += page.items.map(\.id)
            failures.formUnion(page.failures.map(\.path.id))
            guard let next = try await page.next() else { break }
            page = next
        }
        #expect(found == Self.readable)
        #expect(failures.sorted() == Self.unreadable)
    }

    @Test("An eager run continues after unreadable documents and names all of them")
    func passesUnreadable() async throws {
        try await storeUnreadable()
        // The lower adapter leaves them out of the requested number of documents.
        let twice = adapter.migrating(Self.migrations).migrating(Self.migrations)
        for size in 1...13 {
            let report = try await twice.migrateAll(batchSize: size)
            #expect(report.failures.map(\.path.id) == Self.unreadable, "batches of \(size)")
            #expect(report.failures.allSatisfy { $0.error.code == .schemaTooNew })
        }
    }
}

@Suite("Writes through migrations")
struct MigratingWriteTests {
    private static let migrations = DocumentMigrations([
        DocumentMigration("notes", to: 1) { fields, _ in fields["tags"] = .array([]) }
    ])

    let adapter = InMemoryStorageAdapter()
    var old: StorageClient { StorageClient(adapter) }
    var new: StorageClient { StorageClient(adapter.migrating(Self.migrations)) }

    @Test("No kind of write overwrites a document of a later version")
    func refusesLater() async throws {
        let path: DocumentPath = "notes/1"
        try await old.setDocument(path, ["_version": 2, "precious": 1])
        let before = try await old.getDocument(path)
        let writes: [DocumentWrite] = [
            try .set(["a": 1], at: path), try .set(["a": 1], at: path, if: .exists),
            try .set(["a": 1], at: path, if: .revision(before.revision)),
            try .merge(["a": 1], at: path), .update(path, [.set("a", to: 1)]),
            DocumentWrite(path, .update([FieldChange("a", .set(1))])),
        ]
        for write in writes {
            let error = await #expect(throws: StorageError.self) { try await new.commit([write]) }
            #expect(error?.code == .schemaTooNew && error?.effect == StorageError.Effect.none)
        }
        await expectError(StorageError.self, .alreadyExists) {
            try await new.createDocument(path, ["a": 1])
        }
        #expect(try await old.getDocument(path) == before)
        try await new.deleteDocument(path)
        try await new.setDocument(path, ["a": 1])
        #expect(try await old.getDocument(path).fields() == ["a": 1, "_version": 1])
    }

    @Test("A later version that arrives before the write is not overwritten")
    func refusesLaterAtOnce() async throws {
        let path: DocumentPath = "notes/1"
        let meddling = MeddledStorageAdapter(
            adapter,
            beforeCommits: { [old] number in
                guard number == 1 else { return }
                try await old.setDocument(path, ["_version": 2, "precious": 1])
            }
        )
        let client = StorageClient(meddling.migrating(Self.migrations))
        await expectError(StorageError.self, .schemaTooNew) {
            try await client.setDocument(path, ["a": 1])
        }
        #expect(try await old.getDocument(path)["precious"] == 1)
    }

    @Test("A conditional write to an old document succeeds in one commit")
    func keepsConditions() async throws {
        try await old.setDocument("notes/1", ["n": 1])
        let read = try await new.getDocument("notes/1")
        #expect(read["tags"] == [])
        let changes: [FieldChange] = [.set("text", to: "new"), .increment("n", by: 4)]
        let receipt = try await new.updateDocument("notes/1", changes, if: .revision(read.revision))
        #expect(receipt.outcomes.map(\.transformResults) == [[5]])
        let stored = try await old.getDocument("notes/1")
        #expect(try stored.fields() == ["n": 5, "tags": [], "text": "new", "_version": 1])
        #expect(stored.createTime == read.createTime)
        #expect(stored.revision == receipt.revision)
        try await old.setDocument("notes/2", ["n": 1])
        let time = try await old.getDocument("notes/2").updateTime
        try await new.updateDocument("notes/2", [.increment("n", by: 1)], if: .updateTime(time))
        await expectError(StorageError.self, .conflict) {
            try await new.updateDocument("notes/2", changes, if: .updateTime(time))
        }
    }

    @Test("A rejected batch changes no document, and the other batches apply in order")
    func refusesWhole() async throws {
        try await old.setDocument("notes/1", ["n": 1])
        let before = try await old.getDocument("notes/1")
        let results = try await adapter.migrating(Self.migrations).commit([
            WriteBatch([
                .update("notes/1", [.increment("n", by: 1)]),
                DocumentWrite("notes/9", .verify, if: .exists),
            ]),
            WriteBatch([try .set(["n": 2], at: "notes/2")]),
            WriteBatch([
                .update("notes/2", [.increment("n", by: 1)]),
                .update("notes/2", [.increment("n", by: 1)]),
            ]),
        ])
        #expect(results.map { (try? $0.get()) != nil } == [false, true, true])
        #expect(try await old.getDocument("notes/1") == before)
        #expect(try await old.getDocument("notes/2")["n"] == 4)
    }

    @Test("A call that fails as a whole is not reported as a batch that the store refuses")
    func failsAsAWhole() async throws {
        let batch = WriteBatch([try .set(["a": 1], at: "notes/1")])
        // A deadlock in PostgreSQL, and a missing database.
        let failures: [StorageError.Code] = [.conflict, .invalidArgument]
        for code in failures {
            let failing = MeddledStorageAdapter(
                adapter,
                beforeCommits: { _ in throw StorageError(code, "the store fails") }
            ).migrating(Self.migrations)
            await expectError(StorageError.self, code) { try await failing.commit([batch]) }
        }
        let failingOnce = MeddledStorageAdapter(
            adapter,
            beforeCommits: { if $0 == 1 { throw StorageError(.conflict, "the store fails") } }
        ).migrating(Self.migrations)
        let results = try await failingOnce.commit([batch, batch])
        #expect(results.map { (try? $0.get()) != nil } == [false, true])
    }

    @Test("A transaction on an old document needs only one attempt")
    func transactsOnce() async throws {
        try await old.setDocument("notes/1", ["n": 1])
        let attempts = Mutex(0)
        try await new.transaction { transaction in
            attempts.withLock { $0 += 1 }
            let n = try await transaction.getDocument("notes/1")["n"]?.integerValue ?? 0
            try transaction.update("notes/1", [.set("n", to: .integer(n + 1))])
        }
        #expect(attempts.withLock { $0 } == 1)
        #expect(try await old.getDocument("notes/1")["n"] == 2)
    }

    @Test("Concurrent writers through migrations lose no updates")
    func losesNothing() async throws {
        try await old.setDocument("notes/1", ["n": 0])
        try await withThrowingTaskGroup(of: Void.self) { [new] group in
            for _ in 0..<8 {
                group.addTask {
                    for _ in 0..<25 {
                        try await new.updateDocument("notes/1", [.increment("n", by: 1)])
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(try await old.getDocument("notes/1")["n"] == 200)
    }

    @Test("An eager run works without Keel's own collections and skips newer documents")
    func migratesWithoutMarker() async throws {
        for number in 0..<25 { try await old.setDocument("notes/\(number)", ["n": 1]) }
        try await old.setDocument("notes/13", ["_version": 7])
        let strict = RefusingOwnNames(upstream: adapter).migrating(Self.migrations)
        let report = try await strict.migrateAll(batchSize: 4)
        #expect(report.migrated == 24)
        #expect(report.failures.map(\.path) == ["notes/13"])
        #expect(report.failures.first?.error.code == .schemaTooNew)
        let stored = try await old.queryDocuments(DocumentQuery("notes"))
        #expect(stored.count { $0["_version"] == 1 } == 24)
        try await old.deleteDocument("notes/13")
        #expect(try await strict.migrateAll(batchSize: 4).migrated == 0)
        // The next run finds later writes of an older app.
        try await old.setDocument("notes/late", ["n": 1])
        #expect(try await strict.migrateAll().migrated == 1)
        try await old.setDocument("notes/later", ["n": 1])
        #expect(try await adapter.migrating(Self.migrations).migrateAll().migrated == 1)
        #expect(try await adapter.migrating(Self.migrations).migrateAll().migrated == 0)
    }
}

/// Refuses collection names between double underscores, like Google's Firestore.
private struct RefusingOwnNames: ForwardingStorageAdapter {
    let upstream: any StorageAdapter

    private static var refusal: StorageError {
        StorageError(.invalidArgument, "the name is reserved")
    }

    private static func isReserved(_ path: DocumentPath) -> Bool { path.string.hasPrefix("__") }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        if case .documents(let paths) = request.operation, paths.contains(where: Self.isReserved) {
            throw Self.refusal
        }
        return try await upstream.read(request)
    }
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        if batches.contains(where: { $0.writes.map(\.path).contains(where: Self.isReserved) }) {
            return batches.map { _ in .failure(Self.refusal) }
        }
        return try await upstream.commit(batches)
    }
}
