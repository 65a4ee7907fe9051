import KeelStorage
import KeelTestKit
import Synchronization
import Testing

extension StorageAdapterCheck {
    static let listeners: [Self] =
        ListenerKind.allCases.flatMap(passingFailures) + restarts + lastingFailures + badDocuments
        + replicas

    /// The time limit of a check on a busy machine.
    private static let limit = Duration.seconds(300)

    /// Returns a check that fails instead of hanging if a listener never delivers the expected snapshot.
    static func listening(
        _ promise: String,
        needs: StorageCapabilities = .changeLog,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.listeners, promise, needs: needs) { store in
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { try await body(store) }
                group.addTask {
                    try await Task.sleep(for: limit)
                    Issue.record("the listener does not tell what the check waits for")
                }
                defer { group.cancelAll() }
                try await group.next()
            }
        }
    }

    // MARK: Transient failures

    /// Transient failures of different kinds, two in a row, at each of the first calls of a listener.
    private static let passing: [[StorageFault?]] = (0..<4).map { position in
        let kinds: [StorageFault] = [.fail(.unavailable), .loseReply(.busy), .fail(.timeout)]
        let fault = kinds[position % kinds.count]
        return Array(repeating: nil, count: position) + [fault, fault]
    }

    private static func passingFailures(_ kind: ListenerKind) -> [Self] {
        [
            listening(
                "a query listener survives transient failures of any call (\(kind))",
                needs: kind.needs
            ) { store in
                try await outlives(store, kind) { $0.query.order(by: "n") }
            },
            listening(
                "a listener to a limited query survives transient failures while refilling (\(kind))",
                needs: kind.needs
            ) { store in
                try await outlives(store, kind) { $0.query.order(by: "n").limit(to: 3) }
            },
            listening(
                "a document listener survives transient failures of any call (\(kind))",
                needs: kind.needs
            ) { store in
                for (round, faults) in passing.enumerated() {
                    let store = store.part(round)
                    let (client, callCount) = kind.client(on: store.adapter, failing: faults)
                    var snapshots = client.listenToDocument(store.path()).makeAsyncIterator()
                    #expect(try await snapshots.next()?.exists == false)
                    for number in Int64(0)..<3 {
                        try await store.set(["n": .integer(number)])
                        try await show(&snapshots, .integer(number))
                        try await store.client.deleteDocument(store.path())
                        try await show(&snapshots, nil)
                    }
                    #expect(callCount() >= faults.count, "not every fault was met")
                }
            },
            listening(
                "only complete batches are shown while every second call fails (\(kind))",
                needs: kind.needs
            ) { store in
                let faults = (0..<2_000).map { $0 % 2 == 0 ? StorageFault.fail(.busy) : nil }
                let (client, _) = kind.client(on: store.adapter, failing: faults)
                try await store.fill(["a": ["n": 50], "b": ["n": 50]])
                let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
                async let writing: Void = {
                    try await transfer(store, rounds: 14)
                    // Google's emulator may not report a commit during the first request for a result.
                    _ = await begun.first { _ in true }
                    try await transfer(store, rounds: 1)
                }()
                var snapshots = client.listen(to: store.query).makeAsyncIterator()
                var last: DocumentValue?
                while last != 35 {
                    let documents = try #require(try await snapshots.next()).documents
                    beginning.yield()
                    let sum = documents.compactMap { $0["n"]?.integerValue }.reduce(0, +)
                    #expect(sum == 100, "a batch was shown in part")
                    last = documents.first?["n"]
                }
                try await writing
            },
        ]
    }

    private static func transfer(_ store: StoreUnderTest, rounds: Int) async throws {
        for _ in 0..<rounds {
            try await store.client.commit { batch in
                batch.update(store.path("a"), [.increment("n", by: -1)])
                batch.update(store.path("b"), [.increment("n", by: 1)])
            }
        }
    }

    private static func show(
        _ snapshots: inout DocumentSnapshots.Iterator,
        _ value: DocumentValue?
    ) async throws {
        while true {
            let snapshot = try #require(try await snapshots.next(), "listening ended")
            if snapshot.document?["n"] == value { return }
        }
    }

    /// Follows a query with each of the faults through additions, changes of order and the removal of more documents
    /// than a limited result holds in reserve.
    private static func outlives(
        _ store: StoreUnderTest,
        _ kind: ListenerKind,
        _ query: (StoreUnderTest) -> DocumentQuery
    ) async throws {
        for (round, faults) in passing.enumerated() {
            let store = store.part(round)
            let query = query(store)
            let (client, callCount) = kind.client(on: store.adapter, failing: faults)
            let ids = (10..<34).map { "\($0)" }
            try await store.fill(all: ids.map { ($0, ["n": .integer(Int64($0) ?? 0)]) })
            var follower = ListenerFollower(client, query)
            func follow() async throws {
                try await follower.follow(until: try await store.client.queryDocuments(query))
            }
            try await follow()
            try await store.client.commit(ids.prefix(20).map { .delete(store.path($0)) })
            try await follow()
            try await store.set(["n": 0], "new")
            try await follow()
            try await store.update("new", .put("n", 99))
            try await store.client.deleteDocument(store.path("33"))
            try await follow()
            #expect(callCount() >= faults.count, "not every fault was met")
        }
    }

    // MARK: Restarts

    private static let restarts: [Self] = [
        listening("a listener with an expired position survives failures of the new read") {
            store in
            let calls = Atomic<Int>(0)
            // Two of three calls fail: change pages expire, and the following reads do not get through.
            let (client, callCount) = ListenerKind.following.client(on: store.adapter) { call in
                let number = calls.add(1, ordering: .relaxed).newValue
                guard number > 1, number % 3 != 0 else { return nil }
                return .fail(call.kind == .changes ? .cursorExpired : .unavailable)
            }
            var follower = ListenerFollower(client, store.query)
            for number in 0..<12 {
                try await store.set(["n": .integer(Int64(number))], "\(number)")
                let expected = try await store.client.queryDocuments(store.query)
                try await follower.follow(until: expected)
            }
            #expect(callCount() > 20, "hardly a call failed")
        },
        listening("listeners that start and end at any time see no gaps") { store in
            let (client, _) = ListenerKind.following.client(on: store.adapter)
            for number in 0..<10 {
                try await store.set(["n": 1], "\(number)")
                var follower = ListenerFollower(client, store.query)
                try await follower.follow(
                    until: try await store.client.queryDocuments(store.query)
                )
                try await store.set(["n": 2], "\(number)")
                try await follower.follow(
                    until: try await store.client.queryDocuments(store.query)
                )
            }
        },
    ]

    // MARK: Permanent failures

    private static let lastingFailures: [Self] = ListenerKind.allCases.map { kind in
        listening(
            "a permanent failure ends a listener with its code, and a new one works (\(kind))",
            needs: kind.needs
        ) { store in
            for position in 0..<3 {
                let store = store.part(position)
                let faults =
                    Array(repeating: nil, count: position) + [StorageFault.fail(.permissionDenied)]
                let (client, _) = kind.client(on: store.adapter, failing: faults)
                try await store.set(["n": 1], "a")
                let query = store.query
                let error = await #expect(throws: StorageError.self) {
                    var follower = ListenerFollower(client, query)
                    for number in 0..<4 {
                        try await store.set(["n": 1], "b\(number)")
                        try await follower.follow(
                            until: try await store.client.queryDocuments(query)
                        )
                    }
                }
                #expect(error?.code == .permissionDenied)
                var follower = ListenerFollower(client, query)
                for id in ["c", "d"] {
                    try await store.set(["n": 1], id)
                    try await follower.follow(until: try await store.client.queryDocuments(query))
                }
            }
        }
    }

    private static let replicas: [Self] = ListenerKind.allCases.map { kind in
        listening(
            "listeners show a replica at a lower revision (\(kind))",
            needs: kind.needs.union(.replication)
        ) { store in
            let (client, _) = kind.client(on: store.adapter)
            try await store.set(["n": 1])
            let first = try await store.document()
            try await store.set(["n": 2])
            var follower = ListenerFollower(client, store.query)
            try await follower.follow(until: [try await store.document()])
            var snapshots = client.listenToDocument(store.path()).makeAsyncIterator()
            try await show(&snapshots, 2)
            try await store.commit(DocumentWrite(store.path(), .replicate(first)))
            try await follower.follow(until: [first])
            try await show(&snapshots, 1)
        }
    }
}

extension StoreUnderTest {
    /// Returns the same store with a separate collection for one round of a check.
    func part(_ number: Int) -> StoreUnderTest {
        StoreUnderTest(adapter, client: client, named: "\(name)r\(number)")
    }
}
