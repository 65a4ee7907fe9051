import KeelStorage
import Testing

extension StorageAdapterCheck {
    package static let concurrency: [Self] = [
        Self(.concurrency, "a hundred concurrent increments all take effect") { store in
            try await store.set(["n": 0])
            try await together(100) { _ in try await store.transform("n", .increment(1)) }
            #expect(try await store.fields() == ["n": 100])
        },
        Self(.concurrency, "a hundred concurrent array unions all take effect") { store in
            try await store.set(["l": []])
            try await together(100) { number in
                try await store.transform("l", .arrayUnion([.integer(Int64(number))]))
            }
            let elements = try await store.document()["l"]?.arrayValue ?? []
            #expect(Set(elements) == Set((0..<100).map { .integer($0) }))
        },
        Self(.concurrency, "a hundred documents set concurrently are all present") { store in
            try await together(100) { try await store.set(["n": .integer(Int64($0))], "\($0)") }
            #expect(try await store.client.count(store.query) == 100)
        },
        Self(.concurrency, "exactly one of many concurrent creations of a document succeeds") {
            store async throws in
            let winners = try await winners(among: 20) { number in
                try await store.client.createDocument(
                    store.path(),
                    ["n": .integer(Int64(number))]
                )
            } losing: {
                .alreadyExists
            }
            #expect(winners.count == 1)
            let winner = try #require(winners.first)
            #expect(try await store.fields() == ["n": .integer(Int64(winner))])
        },
        Self(.concurrency, "exactly one of many concurrent writes that require a revision succeeds")
        {
            store async throws in
            let revision = try #require(try await store.set(["n": -1]).revision)
            let winners = try await winners(among: 20) { number in
                try await store.client.setDocument(
                    store.path(),
                    ["n": .integer(Int64(number))],
                    if: .revision(revision)
                )
            } losing: {
                .conflict
            }
            #expect(winners.count == 1)
            let winner = try #require(winners.first)
            #expect(try await store.fields() == ["n": .integer(Int64(winner))])
        },
        Self(.concurrency, "readers see only complete batches") { store async throws in
            @Sendable func write(_ number: Int64) async throws {
                try await store.commit(
                    .set(["n": .integer(number)], at: store.path("a")),
                    .set(["n": .integer(number)], at: store.path("b")),
                    .set(["n": .integer(number)], at: store.path("c"))
                )
            }
            try await write(0)
            try await withThrowingTaskGroup(of: Void.self) { group in
                group.addTask { for number in 1...50 { try await write(Int64(number)) } }
                for _ in 0..<3 {
                    group.addTask {
                        for _ in 0..<30 {
                            let found = try await store.client.queryDocuments(store.query)
                            #expect(found.count == 3)
                            #expect(Set(found.map { $0["n"] }).count == 1)
                            let read = try await store.client.findDocuments(
                                ["a", "b", "c"].map { store.path($0) }
                            )
                            #expect(Set(read.map { $0?["n"] }).count == 1)
                            #expect(Set(read.map { $0?.updateTime }).count == 1)
                        }
                    }
                }
                try await group.waitForAll()
            }
        },
        Self(.concurrency, "every task sees a commit that has returned") {
            store async throws in
            for number in 0..<20 {
                try await store.set(["n": .integer(Int64(number))])
                try await together(4) { _ async throws in
                    #expect(try await store.fields() == ["n": .integer(Int64(number))])
                }
            }
        },
        Self(.concurrency, "concurrent writers of different documents do not conflict") { store in
            try await together(20) { number in
                let id = "\(number)"
                var revision = try #require(try await store.set(["n": 0], id).revision)
                for step in 1...5 {
                    let receipt = try await store.client.setDocument(
                        store.path(id),
                        ["n": .integer(Int64(step))],
                        if: .revision(revision)
                    )
                    revision = try #require(receipt.revision)
                }
            }
            #expect(try await store.client.aggregate(store.query, [.sum("n")]) == [100])
        },
        Self(
            .concurrency,
            "a change reader concurrent with many writers ends up equal to the store",
            needs: .changeLog
        ) { store in
            var follower = ChangeFollower(store, after: nil)
            try await withThrowingTaskGroup(of: Void.self) { group in
                for writer in 0..<4 {
                    group.addTask {
                        for number in 0..<25 {
                            let id = "\((writer + number) % 10)"
                            try await store.set(["n": .integer(Int64(number * 4 + writer))], id)
                            if number % 5 == 4 {
                                try await store.client.deleteDocument(store.path(id))
                            }
                        }
                    }
                }
                for _ in 0..<50 { try await follower.step(limit: 3) }
                try await group.waitForAll()
            }
            try await follower.catchUp(limit: 7)
            try await follower.expectEqualToStore()
        },
    ]

    private static func together(
        _ count: Int,
        _ body: @escaping @Sendable (Int) async throws -> Void
    ) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            for number in 0..<count { group.addTask { try await body(number) } }
            try await group.waitForAll()
        }
    }

    /// Runs a closure many times at once and returns the numbers of the successful calls.
    private static func winners(
        among count: Int,
        _ body: @escaping @Sendable (Int) async throws -> Void,
        losing: () -> StorageError.Code
    ) async throws -> [Int] {
        let code = losing()
        return try await withThrowingTaskGroup(of: Int?.self) { group in
            for number in 0..<count {
                group.addTask {
                    do {
                        try await body(number)
                        return number
                    } catch let error as StorageError where error.code == code {
                        return nil
                    }
                }
            }
            return try await group.reduce(into: []) { winners, number in
                if let number { winners.append(number) }
            }
        }
    }
}
