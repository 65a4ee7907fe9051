import KeelTestKit
import Logging
import RestaurantsData
import RestaurantsDomain
import Testing

@Suite("Logged repositories")
struct LoggedRepositoryTests {
    private let lines = Lines()
    private let log: RepositoryLog

    init() {
        let lines = lines
        log = RepositoryLog(Logger(label: "test") { _ in LineHandler(lines: lines) })
    }

    @Test("Each operation is one line with its outcome, reads at debug and writes at info")
    func operations() async throws {
        let memory = InMemoryRepositories([try .fixture("r-1", "Three Gulls")])
        let restaurants = LoggedRestaurantRepository(memory, log)
        let favourites = LoggedFavouriteRepository(memory, log)
        let ratings = LoggedRatingRepository(memory, log)
        let (ada, id) = (try UserID("ada"), try RestaurantID("r-1"))
        _ = try await restaurants.restaurants(RestaurantFilter())
        _ = try await restaurants.restaurant(id)
        _ = try await restaurants.search("secret wish", limit: 3)
        _ = try await restaurants.knownRestaurants([id])
        _ = try await restaurants.refresh()
        try await favourites.save(Favourite(user: ada, restaurant: id, since: day(0)))
        #expect(try await favourites.favourites(of: ada).count == 1)
        #expect(try await favourites.favourite(id, of: ada) != nil)
        try await favourites.remove(id, of: ada)
        try await ratings.save(Rating(user: ada, restaurant: id, stars: Stars(3), date: day(0)))
        #expect(try await ratings.ratings(of: ada).count == 1)
        #expect(try await ratings.ratings(for: id).count == 1)
        #expect(
            lines.all == [
                "debug restaurants.list count=1", "debug restaurants.find id=r-1",
                "debug restaurants.search count=0", "debug restaurants.known count=1",
                "info restaurants.refresh added=0 rejected=0 removed=0 updated=0",
                "info favourites.save id=r-1 user=ada", "debug favourites.list count=1 user=ada",
                "debug favourites.find id=r-1 user=ada", "info favourites.remove id=r-1 user=ada",
                "info ratings.save id=r-1 user=ada", "debug ratings.list count=1 user=ada",
                "debug ratings.list count=1 id=r-1",
            ]
        )
    }

    @Test("A failure is logged with its kind and cause, without user input")
    func failures() async throws {
        let accounts = LoggedAccountRepository(InMemoryRepositories([]), log)
        let email = try EmailAddress("ada@example.com")
        await #expect(throws: DomainError.self) {
            try await accounts.signIn(email, password: "motor")
        }
        _ = try await accounts.signIn(email, password: "engine")
        #expect(try await accounts.currentUser() == accounts.signedInUser())
        _ = try await accounts.signOut()
        let restaurants = LoggedRestaurantRepository(InMemoryRepositories([]), log)
        await #expect(throws: DomainError.self) {
            try await restaurants.restaurant(RestaurantID("r-9"))
        }
        #expect(
            lines.all == [
                "error accounts.signIn failed error=wrongPassword",
                "info accounts.signIn user=ada", "debug accounts.currentUser user=ada",
                "debug accounts.signedInUser", "info accounts.signOut user=ada",
                "error restaurants.find failed error=restaurantNotFound id=r-9",
            ]
        )
        #expect(!lines.all.contains { $0.contains("motor") || $0.contains("@") })
    }
}

/// Formats a record as its level, message and metadata, sorted by name.
private struct LineHandler: LogHandler {
    let lines: Lines
    var metadata: Logger.Metadata = [:]
    var logLevel = Logger.Level.trace

    subscript(metadataKey key: String) -> Logger.Metadata.Value? {
        get { metadata[key] }
        set { metadata[key] = newValue }
    }

    func log(event: LogEvent) {
        let fields = (event.metadata ?? [:]).sorted { $0.key < $1.key }.map {
            "\($0.key)=\($0.value)"
        }
        lines.add((["\(event.level)", "\(event.message)"] + fields).joined(separator: " "))
    }
}
