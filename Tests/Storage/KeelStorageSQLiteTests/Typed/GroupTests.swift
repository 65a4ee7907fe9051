#if SQLite
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestKit
import Testing

@Suite("Observing typed groups, values and counts")
struct GroupTests {
    struct Rating: Codable, Hashable, Sendable {
        var restaurant: String
        var stars: Int
    }

    @Test(
        "A group contains the values of all its collections with their paths",
        arguments: TypedStore.allCases
    )
    func groups(_ store: TypedStore) async throws {
        let storage = try store.client()
        let ratings = storage.collectionGroup("ratings", as: Rating.self)
        for (user, stars) in [("ada", 5), ("bob", 3), ("eve", 4)] {
            try await storage.collection("users/\(user)/ratings", as: Rating.self)
                .save(Rating(restaurant: "r1", stars: stars), id: "r1")
        }
        try await storage.setDocument("users/ada/other/r1", ["stars": 1])
        let best = try await ratings.query {
            $0.where(.greaterOrEqual("stars", 4)).order(by: "stars")
        }
        #expect(best.map(\.stars) == [4, 5])
        #expect(try await ratings.count() == 3)
        #expect(try await ratings.findAll().count == 3)
        let placed = try await ratings.versioned.query { $0.where(.equal("stars", 3)) }
        #expect(placed.map(\.parent) == ["users/bob"] && placed.map(\.id) == ["r1"])
        let below = storage.collectionGroup("ratings", under: "users/ada", as: Rating.self)
        #expect(try await below.findAll().map(\.stars) == [5])
        var page = try await ratings.page(size: 2)
        #expect(page.items.map(\.stars) == [5, 3])
        page = try #require(try await page.next())
        #expect(page.items.map(\.stars) == [4])

        var snapshots = ratings.listen { $0.order(by: "stars") }.makeAsyncIterator()
        #expect(try await snapshots.next()?.items.map(\.stars) == [3, 4, 5])
        try await storage.collection("users/zoe/ratings", as: Rating.self)
            .save(Rating(restaurant: "r2", stars: 1), id: "r2")
        #expect(try await snapshots.next()?.items.map(\.stars) == [1, 3, 4, 5])
    }

    @Test("A value is observed from creation to deletion", arguments: TypedStore.allCases)
    func listensToOne(_ store: TypedStore) async throws {
        let storage = try store.client()
        let ratings = storage.collection("ratings", as: Rating.self)
        var values = ratings.listen("1").makeAsyncIterator()
        #expect(try await values.next() == .some(nil))
        let good = Rating(restaurant: "r", stars: 5)
        try await ratings.save(good, id: "1")
        #expect(try await values.next() == good)
        try await storage.setDocument("ratings/1", ["stars": "many"])
        let error = await storageError { _ = try await values.next() }
        #expect(error?.code == .decodingFailed)
        try await ratings.save(good, id: "1")
        #expect(try await values.next() == good)
        try await ratings.delete("1")
        #expect(try await values.next() == .some(nil))
    }

    @Test("A count is reported only when it changes", arguments: TypedStore.allCases)
    func observesCounts(_ store: TypedStore) async throws {
        let storage = try store.client()
        let ratings = storage.collection("ratings", as: Rating.self)
        var counts = ratings.observeCount { $0.where(.greater("stars", 2)) }.makeAsyncIterator()
        #expect(try await counts.next() == 0)
        try await ratings.save(Rating(restaurant: "r", stars: 1), id: "1")
        try await ratings.save(Rating(restaurant: "r", stars: 3), id: "2")
        #expect(try await counts.next() == 1)
        try await ratings.update("1", [.set("stars", to: 4)])
        #expect(try await counts.next() == 2)
        try await ratings.deleteAll()
        #expect(try await counts.next() == 0)
    }

    @Test("Sums over a group are observed", arguments: TypedStore.allCases)
    func observesSums(_ store: TypedStore) async throws {
        let storage = try store.client()
        let group = storage.collectionGroup("ratings", as: Rating.self)
        var sums = group.observe([.sum("stars"), .average("stars")]).makeAsyncIterator()
        #expect(try await sums.next() == [0, .null])
        for (user, stars) in [("ada", 5), ("bob", 3)] {
            try await storage.collection("users/\(user)/ratings", as: Rating.self)
                .save(Rating(restaurant: "r", stars: stars), id: "r")
            #expect(try await sums.next()?.first == (user == "ada" ? 5 : 8))
        }
    }

    @Test("The store is read once per change and never in between")
    func asksOnlyForNews() async throws {
        let recorded = InMemoryStorageAdapter().recorded()
        let storage = StorageClient(recorded)
        let ratings = storage.collection("ratings", as: Rating.self)
        let others = storage.collection("others", as: Rating.self)
        func questions() -> Int {
            recorded.calls.count { call in
                guard case .read(let request) = call, case .aggregate = request.operation else {
                    return false
                }
                return true
            }
        }
        var counts = ratings.observeCount().makeAsyncIterator()
        #expect(try await counts.next() == 0 && questions() == 1)
        for number in 0..<10 {
            try await others.save(Rating(restaurant: "r", stars: 1), id: "\(number)")
        }
        try await ratings.save(Rating(restaurant: "r", stars: 1), id: "1")
        #expect(try await counts.next() == 1)
        #expect(questions() == 2)
    }

    @Test("Without a change log, a count is read at each interval, and reported when it changes")
    func polls() async throws {
        let clock = TestClock()
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(
            PolledStorageAdapter(upstream: InMemoryStorageAdapter()),
            configuration: configuration
        )
        let ratings = storage.collection("ratings", as: Rating.self)
        let task = Task {
            var seen: [Int] = []
            for try await count in ratings.observeCount() {
                seen.append(count)
                if count == 2 { break }
            }
            return seen
        }
        await clock.waitForSleepers()
        try await ratings.save(Rating(restaurant: "r", stars: 1), id: "1")
        try await ratings.save(Rating(restaurant: "r", stars: 2), id: "2")
        await clock.advance(by: configuration.pollInterval)
        #expect(try await task.value == [0, 2])
    }
}
#endif
