import KeelStorage
import KeelTestKit
import Testing

extension StorageAdapterCheck {
    static let badDocuments: [Self] = ListenerKind.allCases.flatMap { kind in
        [
            listening(
                "an unreadable document is named and hides no others (\(kind))",
                needs: kind.needs
            ) { store in
                let client = migratingClient(store, kind)
                try await store.fill(["a": ["n": 1], "bad": tooNew, "c": ["n": 3]])
                var follower = ListenerFollower(client, store.query.order(by: "n"))
                try await follower.expect(["a", "c"], failing: ["bad"], store)
                try await store.set(["n": 4], "d")
                try await follower.expect(["a", "c", "d"], failing: ["bad"], store)
                try await store.set(tooNew, "c")
                try await follower.expect(["a", "d"], failing: ["bad", "c"], store)
                try await store.set(["n": 0], "bad")
                try await store.client.deleteDocument(store.path("c"))
                try await follower.expect(["bad", "a", "d"], failing: [], store)
            },
            listening(
                "a limited result is refilled when a document becomes unreadable (\(kind))",
                needs: kind.needs
            ) { store in
                let client = migratingClient(store, kind)
                try await store.fill(["a": ["n": 1], "b": ["n": 2], "c": ["n": 3]])
                var follower = ListenerFollower(client, store.query.order(by: "n").limit(to: 2))
                try await follower.expect(["a", "b"], failing: [], store)
                try await store.set(tooNew, "a")
                try await follower.expect(["b", "c"], failing: ["a"], store)
                try await store.set(["n": 0], "a")
                try await follower.expect(["a", "b"], failing: [], store)
            },
            listening(
                "an unreadable document does not affect listeners of other collections"
                    + " (\(kind))",
                needs: kind.needs
            ) { store in
                let client = migratingClient(store, kind)
                let other = store.part(1)
                try await other.set(["n": 1], "a")
                var follower = ListenerFollower(client, other.query)
                try await follower.expect(["a"], failing: [], other)
                try await store.set(tooNew)
                try await other.set(["n": 2], "b")
                try await follower.expect(["a", "b"], failing: [], other)
            },
            listening(
                "a document's listener reports an unreadable document and continues (\(kind))",
                needs: kind.needs
            ) { store in
                let client = migratingClient(store, kind)
                try await store.set(tooNew)
                var snapshots = client.listenToDocument(store.path()).makeAsyncIterator()
                for number in 0..<3 {
                    var snapshot = try #require(try await snapshots.next())
                    #expect(snapshot.exists && snapshot.document == nil)
                    #expect(snapshot.failure?.path == store.path())
                    #expect(snapshot.failure?.error.code == .schemaTooNew)
                    try await store.set(["n": .integer(Int64(number))])
                    snapshot = try #require(try await snapshots.next())
                    #expect(snapshot.document?["n"] == .integer(Int64(number)))
                    #expect(snapshot.failure == nil)
                    try await store.set(tooNew)
                }
            },
            listening(
                "a typed listener continues without documents of another form (\(kind))",
                needs: kind.needs
            ) { store in
                let (client, _) = kind.client(on: store.adapter)
                let numbers = client.collection(store.collection, as: Numbered.self)
                var snapshots = numbers.listen { $0.order(by: "n") }.makeAsyncIterator()
                var shown: [Int] = []
                for (id, value, expected, bad) in typedSteps {
                    if let value {
                        try await store.set(["n": value], id)
                    } else {
                        try await store.client.deleteDocument(store.path(id))
                    }
                    var failures: [String]
                    repeat {
                        let snapshot = try #require(try await snapshots.next())
                        shown.apply(snapshot.changes) { Int($0["n"]?.integerValue ?? -1) }
                        #expect(shown == snapshot.items.map(\.n), "the steps do not lead there")
                        failures = snapshot.failures.map(\.path.id)
                    } while shown != expected || failures != bad
                }
            },
        ]
    }

    private struct Numbered: Codable, Sendable { var n: Int }

    /// The writes, each with the values and the failing documents to be shown after it.
    private static let typedSteps: [(String, DocumentValue?, [Int], [String])] = [
        ("b", 2, [2], []),
        ("a", "text", [2], ["a"]),
        ("c", 1, [1, 2], ["a"]),
        ("b", "text", [1], ["a", "b"]),
        ("d", 4, [1, 4], ["a", "b"]),
        ("a", 3, [1, 3, 4], ["b"]),
        ("c", 9, [3, 4, 9], ["b"]),
        ("b", nil, [3, 4, 9], []),
        ("a", "text", [4, 9], ["a"]),
        ("d", 10, [9, 10], ["a"]),
        ("a", nil, [9, 10], []),
        ("e", 5, [5, 9, 10], []),
    ]

    private static let tooNew: DocumentFields = ["n": 2, "_version": 9]

    /// Returns a client of an app that knows version 1 of the check's documents.
    private static func migratingClient(
        _ store: StoreUnderTest,
        _ kind: ListenerKind
    ) -> StorageClient {
        func client(on adapter: some StorageAdapter) -> StorageClient {
            let step = DocumentMigration(store.name, to: 1) { _, _ in }
            return kind.client(on: adapter.migrating(DocumentMigrations([step]))).client
        }
        return client(on: store.adapter)
    }
}

extension ListenerFollower {
    /// Takes snapshots until one shows exactly these documents and failures.
    fileprivate mutating func expect(
        _ ids: [String],
        failing bad: [String],
        _ store: StoreUnderTest
    ) async throws {
        repeat {
            try await step()
        } while shown.map(\.id) != ids || failures.map(\.path) != bad.map { store.path($0) }
    }
}
