import KeelStorage
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

    @Test("An old document is read in its current form, and stored so by its next write")
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

    @Test("A document of a later version is refused, not damaged")
    func refusesLater() async throws {
        try await old.setDocument("restaurants/1", ["_version": 3])
        let error = await #expect(throws: StorageError.self) {
            try await new.getDocument("restaurants/1")
        }
        #expect(error?.code == .schemaTooNew)
    }

    @Test("An eager run migrates all, and one that is interrupted goes on where it stopped")
    func migratesEagerly() async throws {
        for number in 0..<50 {
            try await old.setDocument("restaurants/\(number)", ["cuisine": "Irish"])
            try await old.setDocument("towns/a/restaurants/\(number)", ["cuisine": "Thai"])
        }
        let failing = adapter.failing(afterCommits: 3).migrating(Self.migrations)
        await #expect(throws: StorageError.self) { try await failing.migrateAll(batchSize: 10) }
        let rest = try await adapter.migrating(Self.migrations).migrateAll(batchSize: 10)
        #expect(rest > 0 && rest < 100)
        let found = try await old.queryDocuments(DocumentQuery(group: "restaurants"))
        #expect(found.count == 100)
        #expect(found.allSatisfy { $0["_version"] == 2 && $0["cuisine"] == nil })
        #expect(try await adapter.migrating(Self.migrations).migrateAll() == 0)
    }
}

extension StorageAdapter {
    /// Lets so many commits through, and fails the others.
    fileprivate func failing(afterCommits count: Int) -> FailingAdapter<Self> {
        FailingAdapter(upstream: self, allowed: Countdown(count))
    }
}

private actor Countdown {
    private var left: Int
    init(_ count: Int) { left = count }
    func take() -> Bool {
        left -= 1
        return left >= 0
    }
}

private struct FailingAdapter<Upstream: StorageAdapter>: StorageAdapter {
    let upstream: Upstream
    let allowed: Countdown

    var capabilities: StorageCapabilities { upstream.capabilities }
    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await upstream.prepare(schema)
    }
    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await upstream.read(request)
    }
    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await upstream.changes(request)
    }
    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        guard await allowed.take() else { throw StorageError(.diskFull, "no room left") }
        return try await upstream.commit(batches)
    }
}
