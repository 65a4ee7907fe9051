import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    package static let results: [Self] = resultChecks + windowChecks + followerChecks

    private static func followed(
        _ promise: String,
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) -> Self {
        Self(.results, promise, needs: .queryChanges, body)
    }

    /// Returns a check that follows a query through writes; after each, the follower must have the query's result.
    private static func followed(
        _ promise: String,
        _ query: @escaping @Sendable (StoreUnderTest) -> DocumentQuery,
        through writes: [@Sendable (StoreUnderTest) async throws -> Void]
    ) -> Self {
        followed(promise) { store in
            let query = query(store)
            var follower = ResultFollower(store, query)
            try await follower.step()
            #expect(follower.result.isEmpty)
            for write in writes {
                try await write(store)
                try await follower.follow(until: try await store.client.queryDocuments(query))
            }
        }
    }

    private static let resultChecks: [Self] = [
        followed(
            "a followed result has what was added, changed and deleted",
            { $0.query },
            through: [
                { try await $0.set(["n": 1], "a") },
                { try await $0.set(["n": 1], "b") },
                { try await $0.set(["n": 2], "a") },
                { try await $0.client.deleteDocument($0.path("b")) },
                { try await $0.set(["n": 3], "b") },
            ]
        ),
        followed(
            "documents enter and leave a followed result by their values",
            { $0.query.where(.greater("n", 5)).order(by: "n") },
            through: [
                { try await $0.fill(["a": ["n": 6], "b": ["n": 1], "c": ["n": 9]]) },
                { try await $0.set(["n": 2], "a") },
                { try await $0.set(["n": 7], "b") },
                { try await $0.client.deleteDocument($0.path("c")) },
            ]
        ),
        followed(
            "a followed result respects the query’s bounds",
            { $0.query.order(by: "n").start(at: [3]).end(before: [6]) },
            through: [
                {
                    try await $0.fill(["a": ["n": 2], "b": ["n": 3], "c": ["n": 5], "d": ["n": 6]])
                },
                { try await $0.set(["n": 4], "a") },
                { try await $0.set(["n": 6], "b") },
            ]
        ),
        followed(
            "a collection group is followed in all of its collections",
            { DocumentQuery(group: $0.name).where(.equal("of", .string($0.name))) },
            through: [
                { try await $0.set(["of": .string($0.name)], "a") },
                { store in
                    let path = store.path("a").collection(store.name).document("x")
                    try await store.client.setDocument(path, ["of": .string(store.name)])
                },
                { try await $0.set(["of": "other"], "a") },
            ]
        ),
        followed("followed documents may not exist yet, and no longer") { store in
            let paths: Set<DocumentPath> = [store.path("a"), store.path("b")]
            var follower = ResultFollower(store, ChangeRequest(scope: .documents(paths)))
            try await follower.step()
            #expect(follower.result.isEmpty)
            try await store.fill(["a": ["n": 1], "b": ["n": 1], "c": ["n": 1]])
            try await follower.follow(until: [store.document("a"), store.document("b")])
            try await store.set(["n": 2], "b")
            try await follower.follow(until: [store.document("a"), store.document("b")])
            try await store.client.deleteDocument(store.path("a"))
            try await follower.follow(until: [store.document("b")])
            try await store.set(["n": 3], "a")
            try await follower.follow(until: [store.document("a"), store.document("b")])
        },
    ]

    private static let windowChecks: [Self] = [
        followed(
            "a document that a limit excludes leaves a followed result, and returns",
            { $0.query.order(by: "n").limit(to: 2) },
            through: [
                { try await $0.fill(["b": ["n": 2], "c": ["n": 3]]) },
                { try await $0.set(["n": 1], "a") },
                { try await $0.client.deleteDocument($0.path("b")) },
                { try await $0.set(["n": 9], "a") },
            ]
        ),
        followed(
            "a followed result may be limited from its end",
            { $0.query.order(by: "n").limit(toLast: 2) },
            through: [
                { try await $0.fill(["a": ["n": 1], "b": ["n": 2], "c": ["n": 3]]) },
                { try await $0.set(["n": 4], "a") },
                { try await $0.client.deleteDocument($0.path("a")) },
            ]
        ),
        followed(
            "a followed result has no documents before its offset",
            { $0.query.order(by: "n").with { $0.offset = 1 } },
            through: [
                { try await $0.fill(["a": ["n": 1], "b": ["n": 2]]) },
                { try await $0.set(["n": 0], "c") },
                { try await $0.client.deleteDocument($0.path("a")) },
            ]
        ),
    ]

    private static let followerChecks: [Self] = [
        followed("a followed result continues from a cursor, or says that it cannot") { store in
            try await store.fill(["a": ["n": 1], "b": ["n": 1]])
            var follower = ResultFollower(store, store.query)
            try await follower.follow(until: try await store.client.queryDocuments(store.query))
            let cursor = follower.request.after
            try await store.set(["n": 2], "a")
            try await follower.follow(until: try await store.client.queryDocuments(store.query))
            var second = ResultFollower(
                store,
                ChangeRequest(after: cursor, followingResultOf: store.query)
            )
            try await second.step(waiting: .seconds(60))
            #expect(second.documents[store.path("a")] == (try await store.document("a")))
        },
        followed("a cursor belongs to its query") { store in
            var follower = ResultFollower(store, store.query)
            let cursor = try await follower.step().next
            await store.expect(.invalidArgument) {
                let other = store.query.order(by: "n")
                _ = try await store.adapter.changes(
                    ChangeRequest(after: cursor, followingResultOf: other)
                )
            }
        },
        followed("a wait for a followed result ends at its limit") { store in
            var follower = ResultFollower(store, store.query)
            try await follower.step()
            let page = try await follower.step(waiting: .milliseconds(30))
            #expect(page.changes.isEmpty)
        },
        followed("canceling ends a wait for a followed result") { store in
            var follower = ResultFollower(store, store.query)
            try await follower.step()
            let request = follower.request
            let waiting = Task {
                var request = request
                request.waitTimeout = .seconds(300)
                return try await store.adapter.changes(request)
            }
            waiting.cancel()
            do {
                // The request may have been answered before it was canceled.
                #expect(try await waiting.value.changes.isEmpty)
            } catch let error as StorageError {
                #expect(error.code == .cancelled)
            }
        },
        followed("many readers follow one result") { store in
            try await store.set(["n": 0])
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<10 {
                    group.addTask {
                        var follower = ResultFollower(store, store.query)
                        do {
                            defer { beginning.yield() }
                            try await follower.step()
                        }
                        try await follower.follow { $0.first?["n"] == 5 }
                    }
                }
                for number in 1...4 { try await store.set(["n": .integer(Int64(number))]) }
                // Google's emulator may not report a commit during the first request for a result.
                for await _ in begun.prefix(10) {}
                try await store.set(["n": 5])
                try await group.waitForAll()
            }
        },
        followed("only complete batches are in a followed result") { store in
            try await store.fill(["a": ["n": 50], "b": ["n": 50]])
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            async let writing: Void = {
                for round in 1...15 {
                    // Google's emulator may not report a commit during the first request for a result.
                    if round == 15 { _ = await begun.first { _ in true } }
                    try await store.client.commit { batch in
                        batch.update(store.path("a"), [.increment("n", by: -1)])
                        batch.update(store.path("b"), [.increment("n", by: 1)])
                    }
                }
            }()
            var follower = ResultFollower(store, store.query)
            try await follower.follow { result in
                beginning.yield()
                let sum = result.compactMap { $0["n"]?.integerValue }.reduce(0, +)
                #expect(sum == 100, "a batch is in the result in part")
                return result.first?["n"] == 35
            }
            try await writing
        },
    ]
}
