import KeelStorage
internal import KeelStorageAdapting
import Testing

extension StorageAdapterCheck {
    /// The timeout of a wait; a wait that a commit ends takes less than `patience`.
    private static let limit = Duration.seconds(300)
    private static let patience = Duration.seconds(290)

    static let waitChecks: [Self] = [
        log("a waiting reader receives a commit as it happens") { store in
            for round in 0..<10 {
                let cursor = try await store.position()
                let elapsed = try await ContinuousClock().measure {
                    async let changes = firstChanges(of: store, after: cursor)
                    // The reader usually waits by now; the promise holds either way.
                    for _ in 0..<20 { await Task.yield() }
                    try await store.set(["n": .integer(Int64(round))])
                    #expect(try await changes.map(\.path) == [store.path()])
                }
                try #require(elapsed < patience, "the waiting reader was not woken by the commit")
            }
        },
        log("a reader with something to read does not wait") { store async throws in
            let cursor = try await store.position()
            try await store.set(["n": 1])
            let elapsed = try await ContinuousClock().measure { () async throws in
                #expect(try await firstChanges(of: store, after: cursor).count == 1)
            }
            #expect(elapsed < patience)
        },
        log("a wait without changes ends at its limit") { store in
            let limit = Duration.milliseconds(30)
            // On a shared store, a commit elsewhere may end a wait early, so one full wait suffices.
            for _ in 0..<100 {
                let request = ChangeRequest(
                    after: try await store.position(),
                    scope: .collections([store.collection]),
                    waitTimeout: limit
                )
                let clock = ContinuousClock()
                let start = clock.now
                let page = try await store.adapter.changes(request)
                #expect(page.changes.isEmpty)
                #expect(page.isCaughtUp)
                if clock.now - start >= limit { return }
            }
            Issue.record("the adapter does not wait for a change")
        },
        log("a reader that does not wait is answered immediately") { store async throws in
            let request = ChangeRequest(
                after: try await store.position(),
                scope: .collections([store.collection])
            )
            let elapsed = try await ContinuousClock().measure { () async throws in
                #expect(try await store.adapter.changes(request).changes.isEmpty)
            }
            #expect(elapsed < patience)
        },
        log("one commit wakes many readers") { store in
            let cursor = try await store.position()
            try await withThrowingTaskGroup(of: Int.self) { group in
                for _ in 0..<20 {
                    group.addTask { try await firstChanges(of: store, after: cursor).count }
                }
                for _ in 0..<20 { await Task.yield() }
                try await store.set(["n": 1])
                for try await count in group { #expect(count == 1) }
            }
        },
        log("canceling a wait throws cancelled") { store in
            let request = ChangeRequest(
                after: try await store.position(),
                scope: .collections([store.collection]),
                waitTimeout: .seconds(600)
            )
            let waiter = Task {
                // Commits elsewhere may end a wait early; a canceled wait must still throw.
                while true {
                    _ = try await store.adapter.changes(request)
                    await Task.yield()
                }
            }
            for _ in 0..<20 { await Task.yield() }
            let elapsed = await ContinuousClock().measure {
                waiter.cancel()
                await store.expect(.cancelled) { _ = try await waiter.value }
            }
            #expect(elapsed < patience)
        },
    ]

    /// Waits for changes, repeating the request if other commits end the wait.
    private static func firstChanges(
        of store: StoreUnderTest,
        after cursor: ChangeCursor
    ) async throws -> [ChangePage.Change] {
        var request = ChangeRequest(
            after: cursor,
            scope: .collections([store.collection]),
            waitTimeout: limit
        )
        for _ in 0..<2_000 {
            let page = try await store.adapter.changes(request)
            guard page.changes.isEmpty else { return page.changes }
            request.after = page.next
            // Yields to the writer if the adapter answers without waiting.
            await Task.yield()
        }
        Issue.record("the adapter goes on answering a waiting reader with nothing")
        return []
    }
}
