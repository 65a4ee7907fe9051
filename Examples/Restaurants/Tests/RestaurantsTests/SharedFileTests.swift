import Foundation
import KeelStorage
import KeelStorageSQLite
import KeelTestKit
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Two instances on one file")
struct SharedFileTests {
    @Test("What one instance does, the other tells live", .timeLimit(.minutes(1)))
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
        let (began, beginning) = AsyncStream.makeStream(of: Void.self)
        let told = Told()
        async let watching: Void = watch(for: ada) { event in
            told.add(event)
            if case .began = event { beginning.finish() }
            return told.events.count == 4 ? .enough : .more
        }
        for await _ in began {}
        let like = ToggleFavourite(
            restaurants: a.restaurants,
            favourites: a.favourites,
            now: { day(0) }
        )
        try await like.add(gulls, for: ada)
        let rate = RateRestaurant(restaurants: a.restaurants, ratings: a.ratings, now: { day(0) })
        try await rate(gulls, stars: 4, for: ada)
        _ = try await a.restaurants.refresh()
        try await watching

        #expect(told.events.first == .began(restaurants: 1, favourites: 0, ratings: 0))
        #expect(
            Set(told.events.dropFirst()) == [
                .favourited(RestaurantName(id: gulls, name: "Three Gulls")),
                .rated(RestaurantName(id: gulls, name: "Three Gulls"), try Stars(4)),
                .changed(RestaurantName(id: gulls, name: "Four Gulls")),
            ]
        )
    }

    @Test("What one instance wrote, another reads after the first is gone")
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
