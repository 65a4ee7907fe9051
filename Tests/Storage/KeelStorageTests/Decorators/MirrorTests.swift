import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Mirroring")
struct MirrorTests {
    /// Collects the decorator's events.
    private final class Events: Sendable {
        private let list = Mutex<[MirrorEvent]>([])

        var texts: [String] { list.withLock { $0.map(\.description) } }

        func add(_ event: MirrorEvent) { list.withLock { $0.append(event) } }
    }

    private let mirror = InMemoryStorageAdapter()
    private let events = Events()

    private func mirrored(
        _ primary: some StorageAdapter = InMemoryStorageAdapter(),
        to mirror: some StorageAdapter
    ) -> some StorageAdapter {
        primary.mirrored(to: mirror) { [events] in events.add($0) }
    }

    @Test("Writes are copied with times and revisions if both stores support it")
    func copies() async throws {
        let storage = StorageClient(mirrored(to: mirror))
        try await storage.setDocument("notes/1", ["text": "a", "visits": 1])
        try await storage.updateDocument("notes/1", [.increment("visits", by: 2)])
        try await storage.setDocument("notes/2", ["text": "b"])
        try await storage.deleteDocument("notes/2")
        let copy = StorageClient(mirror)
        let original = try await storage.getDocument("notes/1")
        #expect(try await copy.getDocument("notes/1") == original)
        #expect(try await copy.findDocument("notes/2") == nil)
        #expect(events.texts == [])
    }

    @Test(
        "An invalid name is refused before anything is written",
        arguments: ["", "a/b", "..", String(repeating: "m", count: 81)]
    )
    func refusesNames(_ name: String) async throws {
        let primary = InMemoryStorageAdapter()
        let storage = StorageClient(primary.mirrored(to: mirror, name: name) { _ in })
        for _ in 0..<2 {
            await expectError(StorageError.self, .invalidArgument) {
                try await storage.setDocument("notes/1", ["text": "a"])
            }
            await expectError(StorageError.self, .invalidArgument) {
                _ = try await storage.findDocument("notes/1")
            }
        }
        #expect(try await StorageClient(primary).findDocument("notes/1") == nil)
    }

    @Test("A mirror failure is reported, and the copy is made later")
    func survivesFailures() async throws {
        // For the record before the first commit, and for the copy after it.
        let away = Mutex(2)
        let failing = mirror.failing { call in
            guard call.kind == .commit else { return nil }
            return away.withLock { away in
                away -= 1
                return away >= 0 ? .fail(.unavailable) : nil
            }
        }
        let adapter = InMemoryStorageAdapter().mirrored(to: failing) { [events] in events.add($0) }
        let storage = StorageClient(adapter)
        try await storage.setDocument("notes/1", ["text": "a"])
        #expect(adapter.waitingCount == 1)
        #expect(events.texts.count == 2)
        try await storage.setDocument("notes/2", ["text": "b"])
        #expect(adapter.waitingCount == 0)
        #expect(try await StorageClient(mirror).count(DocumentQuery("notes")) == 2)
    }

    @Test(
        "A caller that has copied leaves later documents to a commit under way",
        arguments: [true, false]
    )
    func leavesTheRest(hasLog: Bool) async throws {
        let isHeld = Gate()
        let client = Mutex<StorageClient?>(nil)
        defer { client.withLock { $0 = nil } }
        let memory = InMemoryStorageAdapter()
        let store: any StorageAdapter = hasLog ? memory : PolledStorageAdapter(upstream: memory)
        let primary = MeddledStorageAdapter(
            store,
            beforeCommits: { number in
                // The first commit is under way until the end of the test.
                if number == 1 { try await isHeld.pass() }
            }
        )
        let slow = MeddledStorageAdapter(
            mirror,
            beforeCommits: { number in
                // While “a” is being copied: after the first cursor, or after the notes of both commits.
                guard number == (hasLog ? 2 : 3) else { return }
                let other = client.withLock { $0 }
                try await other?.setDocument("notes/b", ["n": 1])
            }
        )
        let adapter = primary.mirrored(to: slow, comparisonRate: 0) { [events] in events.add($0) }
        let storage = StorageClient(adapter)
        client.withLock { $0 = storage }
        async let held = storage.setDocument("notes/held", ["n": 1])
        try await waitUntil { isHeld.begunCount == 1 }
        try await storage.setDocument("notes/a", ["n": 1])
        let copy = StorageClient(mirror)
        #expect(try await copy.count(DocumentQuery("notes")) == 1)
        isHeld.open()
        _ = try await held
        #expect(try await copy.count(DocumentQuery("notes")) == 3)
        #expect(adapter.waitingCount == 0)
        #expect(events.texts == [])
    }

    @Test("A caller leaves a long log to a commit under way")
    func leavesTheLog() async throws {
        let (isHeld, isAway) = (Gate(), Watched(true))
        let primary = MeddledStorageAdapter(
            InMemoryStorageAdapter(),
            beforeCommits: { number in
                if number == 2 { try await isHeld.pass() }
            }
        )
        let failing = mirror.failing { _ in isAway.value ? .fail(.unavailable) : nil }
        let adapter = primary.mirrored(to: failing, comparisonRate: 0) { _ in }
        let storage = StorageClient(adapter)
        try await storage.commit { batch in
            for number in 0..<300 { try batch.set(DocumentPath("notes", "\(number)"), ["n": 1]) }
        }
        isAway.change { $0 = false }
        async let held = storage.setDocument("notes/held", ["n": 1])
        try await waitUntil { isHeld.begunCount == 1 }
        try await storage.setDocument("notes/a", ["n": 1])
        let copy = StorageClient(mirror)
        let count = try await copy.count(DocumentQuery("notes"))
        #expect(count > 0 && count < 301)
        isHeld.open()
        _ = try await held
        #expect(try await copy.count(DocumentQuery("notes")) == 302)
        #expect(adapter.waitingCount == 0)
    }

    @Test("Documents that differ in the mirror are reported")
    func tellsDifferences() async throws {
        let storage = StorageClient(mirrored(to: mirror))
        for id in 1...3 { try await storage.setDocument("notes/\(id)", ["text": "same"]) }
        try await StorageClient(mirror).setDocument("notes/2", ["text": "other"])
        try await StorageClient(mirror).deleteDocument("notes/3")
        // A state that may be old is not compared.
        let recent = storage.allowingStaleness(of: .seconds(1))
        _ = try await recent.queryDocuments(DocumentQuery("notes"))
        #expect(events.texts == [])
        _ = try await storage.queryDocuments(DocumentQuery("notes"))
        #expect(events.texts == ["the mirror differs in “notes/2”, “notes/3”"])
        _ = try await storage.getDocument("notes/1")
        #expect(events.texts.count == 1)
    }

    @Test("Records of Keel that the mirror lacks are not reported as differences")
    func passesOverOwnRecords() async throws {
        let primary = InMemoryStorageAdapter()
        let record = DocumentWrite("__outcomes__/1", .set(DocumentBody(["outcome": "accepted"])))
        _ = try await primary.commit([WriteBatch([record])])[0].get()
        let adapter = mirrored(primary, to: mirror)
        let operations: [ReadOperation] = [
            .query(DocumentQuery("__outcomes__")), .documents(["__outcomes__/1"]),
            .aggregate(DocumentQuery("__outcomes__"), [.count()]),
        ]
        for operation in operations { _ = try await adapter.read(ReadRequest(operation)) }
        #expect(events.texts == [])
    }

    @Test("A read that reports unreadable documents is compared as one")
    func comparesReadable() async throws {
        let store = InMemoryStorageAdapter()
        let migrations = DocumentMigrations([DocumentMigration("notes", to: 1) { _, _ in }])
        let adapter = mirrored(store.migrating(migrations), to: mirror)
        for id in 1...2 { try await StorageClient(adapter).setDocument("notes/\(id)", ["n": 1]) }
        try await StorageClient(store).setDocument("notes/2", ["_version": 3])
        var request = ReadRequest(.documents(["notes/1", "notes/2"]))
        request.reportsUnreadable = true
        #expect(try await adapter.read(request).unreadable.map(\.path) == ["notes/2"])
        #expect(events.texts == ["the mirror differs in “notes/2”"])
    }

    @Test("Aggregations that differ only in the rounding of doubles are not reported")
    func toleratesRounding() async throws {
        let cases: [(DocumentValue, DocumentValue, isReported: Bool)] = [
            (.double(0.1 + 0.2), 0.3, false), (.double(.nan), .double(.nan), false),
            (0.3, 0.301, true), (.double(.infinity), 1.0, true), (1, 1.0, true), (1, 2, true),
        ]
        for (one, other, isReported) in cases {
            let events = Events()
            let primary = Aggregating(upstream: InMemoryStorageAdapter(), values: [one])
            let copy = Aggregating(upstream: InMemoryStorageAdapter(), values: [other])
            let adapter = primary.mirrored(to: copy) { events.add($0) }
            let sum = ReadOperation.aggregate(DocumentQuery("notes"), [.sum("n")])
            _ = try await adapter.read(ReadRequest(sum))
            #expect(events.texts.count == (isReported ? 1 : 0), "\(one) and \(other)")
        }
    }

    @Test("A partial answer is not compared")
    func leavesPartialAnswers() async throws {
        let copy = StandInAdapter(mirror)
        let adapter = mirrored(to: copy)
        for id in 1...2 { try await StorageClient(adapter).setDocument("notes/\(id)", ["n": 1]) }
        let before = copy.reads.count
        var request = ReadRequest(.documents(["notes/1", "notes/2"]))
        request.maximumBytes = 1
        #expect(try await adapter.read(request).isPartial)
        #expect(copy.reads.count == before)
    }

    @Test("A concurrent write is not reported as a difference")
    func isNotFooledByWrites() async throws {
        let primary = InMemoryStorageAdapter()
        let storage = StorageClient(mirrored(primary, to: mirror))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for task in Int64(0)..<4 {
                group.addTask {
                    for step in Int64(0)..<200 {
                        let path: DocumentPath = "notes/\(step % 5)"
                        try await storage.mergeDocument(
                            path,
                            ["step": .integer(task * 1000 + step)]
                        )
                        _ = try await storage.queryDocuments(DocumentQuery("notes"))
                    }
                }
            }
            try await group.waitForAll()
        }
        #expect(events.texts == [])
        let documents = try await StorageClient(primary).queryDocuments(DocumentQuery("notes"))
        #expect(try await StorageClient(mirror).queryDocuments(DocumentQuery("notes")) == documents)
    }

    @Test("Errors of the primary store are unchanged")
    func keepsErrors() async throws {
        let storage = StorageClient(mirrored(to: mirror))
        await #expect(throws: StorageError.self) {
            try await storage.updateDocument("notes/1", [.set("text", to: "a")])
        }
        #expect(events.texts == [])
    }
}

/// Answers every aggregation with the same values.
private struct Aggregating: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let values: [DocumentValue]

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var result = try await upstream.read(request)
        if case .values = result.payload { result.payload = .values(values) }
        return result
    }
}
