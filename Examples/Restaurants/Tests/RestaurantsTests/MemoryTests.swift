import KeelRepositories
import KeelSecrets
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Memory of recent reads")
struct MemoryTests {
    private let gulls = ServiceJSON.restaurant("r-1", "Three Gulls")
    private let ladder = ServiceJSON.restaurant("r-2", "Salt Ladder")

    @Test("The store is asked once for two reads of a list, a search and a restaurant")
    func once() async throws {
        let store = InMemoryStorageAdapter().recorded()
        let app = try Instance(.json(ServiceJSON.page(gulls, ladder)), on: store)
        _ = try await app.restaurants.refresh()
        let id = try RestaurantID("r-1")
        func readAll() async throws -> [[String]] {
            [
                try await app.restaurants.restaurants(RestaurantFilter()).map(\.name),
                try await app.restaurants.search("salt", limit: 5).map(\.name),
                [try await app.restaurants.restaurant(id).name],
            ]
        }
        let first = try await readAll()
        #expect(first == [["Salt Ladder", "Three Gulls"], ["Salt Ladder"], ["Three Gulls"]])
        let reads = store.callCount(of: .read)
        #expect(try await readAll() == first)
        #expect(store.callCount(of: .read) == reads)
        #expect(app.transport.calls.count == 1)
    }

    @Test("A refresh is visible at once, also from another process on the same file")
    func refreshed() async throws {
        let file = SQLiteStorageLocation.temporary()
        let app = try Instance(
            .json(ServiceJSON.page(gulls)),
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Four Gulls"))),
            on: try SQLiteStorageAdapter(at: file)
        )
        let other = try Instance(
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Five Gulls"))),
            on: try SQLiteStorageAdapter(at: file)
        )
        func names() async throws -> [String] {
            try await app.restaurants.restaurants(RestaurantFilter()).map(\.name)
        }
        #expect(try await names() == ["Three Gulls"])
        _ = try await app.restaurants.refresh()
        #expect(try await names() == ["Four Gulls"])
        _ = try await other.restaurants.refresh()
        // The store's change log delivers it.
        try await waitUntil { try await names() == ["Five Gulls"] }
    }

    @Test("An empty list is an answer and is not requested again")
    func empty() async throws {
        let app = try Instance(.json(ServiceJSON.page()))
        #expect(try await app.restaurants.restaurants(RestaurantFilter()) == [])
        #expect(try await app.restaurants.restaurants(RestaurantFilter()) == [])
        #expect(app.transport.calls.count == 1)
    }
}
