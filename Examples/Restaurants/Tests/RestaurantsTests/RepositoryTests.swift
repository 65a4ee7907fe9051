import Foundation
import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import RestaurantsDomain
import Testing

@testable import RestaurantsData

@Suite("Offline-first restaurant repository")
struct RepositoryTests {
    private let gulls = ServiceJSON.restaurant("r-1", "Three Gulls")
    private let ladder = ServiceJSON.restaurant("r-2", "Salt Ladder", borough: "Old Town")

    @Test("The first list loads all pages, and the second makes no request")
    func firstList() async throws {
        let app = try Instance(
            .json(ServiceJSON.page(gulls, next: "r-1")),
            .json(ServiceJSON.page(ladder))
        )

        let first = try await app.restaurants.restaurants(RestaurantFilter())
        #expect(first.map(\.name) == ["Salt Ladder", "Three Gulls"])
        #expect(
            app.transport.calls.map(\.head.path) == [
                "/restaurants?limit=500", "/restaurants?limit=500&after=r-1",
            ]
        )

        #expect(try await app.restaurants.restaurants(RestaurantFilter()) == first)
        #expect(app.transport.calls.count == 2)
    }

    @Test("A page cycle ends with an error, and nothing is written")
    func circle() async throws {
        let app = try Instance(
            .json(ServiceJSON.page(gulls, next: "r-1")),
            .json(ServiceJSON.page(gulls, next: "r-1"))
        )
        let error = await #expect(throws: DomainError.self) { try await app.restaurants.refresh() }
        #expect(error?.kind == .sourceNotUnderstood)
        #expect(try await app.restaurants.knownRestaurants([RestaurantID("r-1")]) == [])
    }

    @Test("A refresh reports its changes and removes what the source no longer has")
    func refresh() async throws {
        let app = try Instance(
            .json(ServiceJSON.page(gulls, ladder)),
            .json(
                ServiceJSON.page(
                    ServiceJSON.restaurant("r-1", "Four Gulls"),
                    ServiceJSON.restaurant("r-3", "Noodle Pier"),
                    #"{"id": "r-4"}"#
                )
            )
        )
        #expect(
            try await app.restaurants.refresh()
                == RefreshReport(added: 2, updated: 0, removed: 0, unchanged: 0)
        )
        let second = try await app.restaurants.refresh()
        #expect((second.added, second.updated, second.removed) == (1, 1, 1))
        #expect(second.rejections.map(\.id) == ["r-4"])
        let left = try await app.restaurants.restaurants(RestaurantFilter())
        #expect(left.map(\.name) == ["Four Gulls", "Noodle Pier"])
    }

    @Test("An unreadable entry does not remove a known restaurant")
    func rejectionKeepsWhatWasKnown() async throws {
        let app = try Instance(
            .json(ServiceJSON.page(gulls)),
            .json(ServiceJSON.page(#"{"id": "r-1", "name": 1}"#))
        )
        _ = try await app.restaurants.refresh()
        let report = try await app.restaurants.refresh()
        #expect(report.removed == 0)
        #expect(report.rejections.map(\.id) == ["r-1"])
        #expect(try await app.restaurants.knownRestaurants([RestaurantID("r-1")]).count == 1)
    }

    @Test("A search before the first load asks the service with every character encoded")
    func remoteSearch() async throws {
        let app = try Instance(.json(ServiceJSON.page(gulls)))
        let found = try await app.restaurants.search("fish & chips? 100% näh+#", limit: 5)
        #expect(found.map(\.name) == ["Three Gulls"])
        #expect(
            app.transport.calls.map(\.head.path) == [
                "/restaurants/search?q=fish%20%26%20chips%3F%20100%25%20n%C3%A4h%2B%23&limit=5"
            ]
        )
    }

    @Test("A failed refresh changes nothing, and reading continues offline")
    func offline() async throws {
        let app = try Instance(.json(ServiceJSON.page(gulls, ladder)))
        _ = try await app.restaurants.refresh()
        // From here on the transport refuses every connection.
        let error = await #expect(throws: DomainError.self) { try await app.restaurants.refresh() }
        #expect(error?.kind == .sourceUnreachable)

        #expect(try await app.restaurants.restaurants(RestaurantFilter()).count == 2)
        #expect(try await app.restaurants.search("gulls", limit: 5).map(\.id.text) == ["r-1"])
        #expect(try await app.restaurants.restaurant(RestaurantID("r-2")).name == "Salt Ladder")
    }

    @Test("A stale restaurant is shown if the service is unreachable")
    func staleOffline() async throws {
        let store = InMemoryStorageAdapter()
        _ = try await Instance(.json(ServiceJSON.page(gulls)), on: store).restaurants.refresh()
        let later = try Instance(on: store, at: day(30))
        #expect(try await later.restaurants.restaurant(RestaurantID("r-1")).name == "Three Gulls")
        #expect(later.transport.calls.count == 1)
    }

    @Test(
        "A refusal is distinguished from a missing network",
        arguments: [
            (.internalServerError, .sourceRefused), (.forbidden, .sourceRefused),
        ] as [(HTTPResponse.Status, DomainError.Kind)]
    )
    func refusal(_ status: HTTPResponse.Status, _ kind: DomainError.Kind) async throws {
        let app = try Instance(.status(status))
        let error = await #expect(throws: DomainError.self) { try await app.restaurants.refresh() }
        #expect(error?.kind == kind)
    }

    @Test("Filters and searches use declared indexes on SQLite")
    func indexes() async throws {
        let adapter = try SQLiteStorageAdapter(at: .temporary())
        let app = try Instance(.json(ServiceJSON.page(gulls, ladder)), on: adapter)
        _ = try await app.restaurants.refresh()
        for filter in [
            RestaurantFilter(), RestaurantFilter(borough: "Old Town", limit: 1),
            RestaurantFilter(cuisine: "Seafood"),
            RestaurantFilter(borough: "Old Town", cuisine: "Seafood"),
        ] {
            #expect(try await !app.restaurants.restaurants(filter).isEmpty)
        }
        #expect(try await app.restaurants.search("sal* quay", limit: 3).map(\.id.text) == ["r-2"])
        #expect(try await app.ratings.ratings(for: RestaurantID("r-1")) == [])
    }
}
