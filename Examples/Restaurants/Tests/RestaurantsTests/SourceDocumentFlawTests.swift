import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelStorage
import KeelTestKit
import RestaurantsDomain
import Testing

@testable import RestaurantsData

/// The flaws of the data layer on which this app is modeled: none of them is present.
@Suite("Flaws of the source documents' sample that the app avoids")
struct SourceDocumentFlawTests {
    private let ada: UserID
    private let bob: UserID
    private let gull: RestaurantID

    init() throws {
        ada = try UserID("ada")
        bob = try UserID("bob")
        gull = try RestaurantID("r-1")
    }

    @Test("Favorites without a user: one user's favorites are not visible to another")
    func favouritesBelongToAUser() async throws {
        let app = try Instance()
        try await app.favourites.save(Favourite(user: ada, restaurant: gull, since: day(0)))

        #expect(try await app.favourites.favourites(of: ada).map(\.restaurant) == [gull])
        #expect(try await app.favourites.favourites(of: bob) == [])

        try await app.favourites.remove(gull, of: bob)
        #expect(try await app.favourites.favourite(gull, of: ada) != nil)
    }

    @Test("Saving restaurants wipes favorites: a refresh affects no favorite and no rating")
    func refreshKeepsFavouritesAndRatings() async throws {
        let app = try Instance(
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Three Gulls"))),
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Four Gulls"))),
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-2", "Salt Ladder")))
        )
        _ = try await app.restaurants.refresh()
        let favourite = Favourite(user: ada, restaurant: gull, since: day(0))
        let rating = Rating(user: ada, restaurant: gull, stars: try Stars(4), date: day(0))
        try await app.favourites.save(favourite)
        try await app.ratings.save(rating)

        let changed = try await app.restaurants.refresh()
        #expect(changed.updated == 1)
        let removed = try await app.restaurants.refresh()
        #expect(removed.removed == 1)

        #expect(try await app.favourites.favourites(of: ada) == [favourite])
        #expect(try await app.ratings.ratings(of: ada) == [rating])
    }

    @Test("Stale entries by id: a refresh and a read by id use the same copy")
    func refreshReachesReadsByID() async throws {
        let app = try Instance(
            .json(ServiceJSON.restaurant("r-1", "Three Gulls")),
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Four Gulls"))),
            .json(ServiceJSON.page())
        )
        #expect(try await app.restaurants.restaurant(gull).name == "Three Gulls")

        _ = try await app.restaurants.refresh()
        #expect(try await app.restaurants.restaurant(gull).name == "Four Gulls")

        _ = try await app.restaurants.refresh()
        #expect(try await app.restaurants.knownRestaurants([gull]) == [])
    }

    @Test("Stale entries by id: an old restaurant is requested again, and closed ones are removed")
    func oldRestaurantIsAskedForAgain() async throws {
        let store = InMemoryStorageAdapter()
        let first = try Instance(
            .json(ServiceJSON.page(ServiceJSON.restaurant("r-1", "Three Gulls"))),
            on: store
        )
        _ = try await first.restaurants.refresh()

        let nextDay = try Instance(
            .json(ServiceJSON.restaurant("r-1", "Four Gulls")),
            on: store,
            at: day(2)
        )
        #expect(try await nextDay.restaurants.restaurant(gull).name == "Four Gulls")
        // It is fresh again.
        #expect(try await nextDay.restaurants.restaurant(gull).name == "Four Gulls")
        #expect(nextDay.transport.calls.count == 1)

        let later = try Instance(.status(.notFound), on: store, at: day(4))
        let error = await #expect(throws: DomainError.self) {
            try await later.restaurants.restaurant(gull)
        }
        #expect(error?.kind == .restaurantNotFound(gull))
        #expect(try await later.restaurants.knownRestaurants([gull]) == [])
    }

    @Test("Lost detached writes: a finished call has written, and a failed one throws")
    func writesAreFinishedOrFail() async throws {
        let store = InMemoryStorageAdapter()
        let favourite = Favourite(user: ada, restaurant: gull, since: day(0))
        try await Instance(on: store).favourites.save(favourite)
        #expect(try await Instance(on: store).favourites.favourites(of: ada) == [favourite])

        let full = StorageError(.diskFull, "the disk is full")
        let broken = try Instance(on: UnavailableStorageAdapter(full))
        let error = await #expect(throws: DomainError.self) {
            try await broken.favourites.save(favourite)
        }
        #expect(error?.kind == .storageFailed)
    }

    @Test("Error mapping that drops the cause: causes are kept down to the transport")
    func errorKeepsItsCause() async throws {
        let app = try Instance(.failure(TransportError(.connectionRefused)))

        let error = await #expect(throws: DomainError.self) { try await app.restaurants.refresh() }

        #expect(error?.kind == .sourceUnreachable)
        let repository = try #require(error?.cause as? RepositoryError)
        #expect(repository.code == .unreachable)
        let source = try #require(repository.cause as? DataSourceError)
        #expect(source.source == .remote)
        let network = try #require(source.cause as? NetworkError)
        #expect(network.code == .noConnection)
        #expect(network.transportError?.code == .connectionRefused)
    }
}
