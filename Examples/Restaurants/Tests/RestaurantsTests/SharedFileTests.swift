import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Two instances on one file")
struct SharedFileTests {
    @Test("Changes by one instance are observed live by the other", .timeLimit(.minutes(10)))
    func live() async throws {
        let file = SQLiteStorageLocation.temporary()
        let a = try Instance(
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Three Gulls"))),
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Four Gulls"))),
            on: try SQLiteStorageAdapter(at: file)
        )
        let b = try Instance(on: try SQLiteStorageAdapter(at: file))
        let (ada, gulls) = (try UserID("ada"), try RestaurantID("r-1"))
        _ = try await a.restaurants.refresh()

        let watch = WatchRestaurants(
            restaurants: b.restaurants,
            favourites: b.favourites,
            ratings: b.ratings
        )
        let (events, teller) = AsyncStream.makeStream(of: LiveEvent.self)
        async let watching: Void = watch(for: ada) { event in
            teller.yield(event)
            if case .changed = event { return .enough }
            return .more
        }
        var told = events.makeAsyncIterator()
        #expect(await told.next() == .began(restaurants: 1, favourites: 0, ratings: 0))

        let like = ToggleFavourite(
            restaurants: a.restaurants,
            favourites: a.favourites,
            now: { day(0) }
        )
        try await like.add(gulls, for: ada)
        let name = RestaurantName(id: gulls, name: "Three Gulls")
        #expect(await told.next() == .favourited(name))

        let rate = RateRestaurant(restaurants: a.restaurants, ratings: a.ratings, now: { day(0) })
        try await rate(gulls, stars: 4, for: ada)
        #expect(await told.next() == .rated(name, try Stars(4)))

        _ = try await a.restaurants.refresh()
        #expect(await told.next() == .changed(RestaurantName(id: gulls, name: "Four Gulls")))
        try await watching
    }

    @Test("Data written by one instance is read by another after the first is gone")
    func reopened() async throws {
        let file = SQLiteStorageLocation.temporary()
        let favourite = Favourite(
            user: try UserID("ada"),
            restaurant: try RestaurantID("r-1"),
            since: day(0)
        )
        try await Instance(on: try SQLiteStorageAdapter(at: file)).favourites.save(favourite)

        let next = try Instance(on: try SQLiteStorageAdapter(at: file))
        #expect(try await next.favourites.favourites(of: favourite.user) == [favourite])
    }
}
