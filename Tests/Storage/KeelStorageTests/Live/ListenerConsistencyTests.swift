import KeelStorage
import Testing

/// Listeners with many writers: their steps fold to the stored state.
@Suite("Listeners under load")
struct ListenerConsistencyTests {
    @Test("Listeners see complete batches, consistent steps and finally the store's state")
    func isConsistent() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let rounds = 150
        let query = DocumentQuery("accounts").order(by: "owner")
        try await storage.commit { batch in
            for number in 0..<10 {
                try batch.set(
                    "accounts/\(number)",
                    ["owner": .integer(Int64(number)), "balance": 100]
                )
            }
        }
        async let listening = Self.listen(storage, query, until: rounds)
        try await withThrowingTaskGroup(of: Void.self) { group in
            for seed in 0..<3 {
                group.addTask { try await Self.transfer(storage, seed: seed, rounds: rounds / 3) }
            }
            try await group.waitForAll()
        }
        try await storage.setDocument("accounts/done", ["owner": 99, "balance": 0])
        let shown = try await listening
        #expect(shown == (try await storage.queryDocuments(query)))
    }

    /// Moves money between two accounts in one batch, so that the sum never changes.
    private static func transfer(_ storage: StorageClient, seed: Int, rounds: Int) async throws {
        var random = Xorshift(seed: UInt64(seed + 1) * 104_729)
        for _ in 0..<rounds {
            let from = random.next(10)
            let to = (from + 1 + random.next(8)) % 10
            try await storage.commit { batch in
                batch.update("accounts/\(from)", [.increment("balance", by: -5)])
                batch.update("accounts/\(to)", [.increment("balance", by: 5)])
            }
        }
    }

    private static func listen(
        _ storage: StorageClient,
        _ query: DocumentQuery,
        until rounds: Int
    ) async throws -> [Document] {
        var folded: [Document] = []
        for try await snapshot in storage.listen(to: query) {
            folded.apply(snapshot.changes) { $0 }
            #expect(folded == snapshot.documents)
            let sum = snapshot.documents.compactMap { $0["balance"]?.integerValue }.reduce(0, +)
            #expect(sum == 1_000, "a batch was seen in part")
            if snapshot.documents.contains(where: { $0.id == "done" }) { return snapshot.documents }
        }
        return folded
    }

    @Test("Listeners that start during writes miss nothing")
    func startsWithoutGap() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask {
                for number in 0..<300 { try await storage.setDocument("notes/\(number)", ["n": 1]) }
            }
            for _ in 0..<20 {
                group.addTask {
                    for try await snapshot in storage.listen(to: DocumentQuery("notes")) {
                        if snapshot.documents.count == 300 { return }
                    }
                    Issue.record("a listener ended before it had seen all documents")
                }
            }
            try await group.waitForAll()
        }
    }

    @Test("A listener whose cursor expires reads again and continues")
    func survivesExpiry() async throws {
        let storage = StorageClient(InMemoryStorageAdapter(changeLogCapacity: 1))
        var snapshots = storage.listen(to: DocumentQuery("notes")).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.isEmpty == true)
        for number in 0..<200 { try await storage.setDocument("notes/\(number)", ["n": 1]) }
        var count = 0
        while count < 200 { count = try #require(try await snapshots.next()).documents.count }
    }
}
