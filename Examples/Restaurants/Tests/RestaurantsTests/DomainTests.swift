import Foundation
import RestaurantsDomain
import Synchronization
import Testing

@Suite("Business rules")
struct DomainTests {
    @Test(
        "A rating has one to five stars",
        arguments: [(0, false), (1, true), (5, true), (6, false)]
    )
    func stars(_ count: Int, _ isPossible: Bool) {
        #expect(((try? Stars(count)) != nil) == isPossible)
    }

    @Test("An average covers all ratings, and is missing without ratings")
    func averages() throws {
        let id = try RestaurantID("r-1")
        let ratings = try [("ada", 5), ("bob", 2)].map { name, count in
            Rating(user: try UserID(name), restaurant: id, stars: try Stars(count), date: day(0))
        }
        #expect(RatingSummary(ratings)?.average == 3.5)
        #expect(RatingSummary([]) == nil)
        #expect(try Restaurant.fixture("r-1", "Gulls", scores: [2, 9, 4]).averageScore == 5)
        #expect(try Restaurant.fixture("r-1", "Gulls").averageScore == nil)
    }

    @Test("The latest grade has the latest date, whatever the order")
    func latestGrade() throws {
        let restaurant = try Restaurant.fixture("r-1", "Gulls", scores: [2, 9])
        #expect(restaurant.latestGrade?.score == 9)
    }

    @Test(
        "Ambiguous ids and names are rejected",
        arguments: [
            "", "a/b", "a b", "..", "é", String(repeating: "a", count: 101),
        ]
    )
    func names(_ text: String) {
        #expect(throws: DomainError.self) { try RestaurantID(text) }
        #expect(throws: DomainError.self) { try UserID(text) }
    }

    @Test(
        "An email address has a name and a domain",
        arguments: [
            ("ada@example.com", true), ("a.b+c@mail.example.org", true), ("ada", false),
            ("ada@", false), ("@example.com", false), ("ada@example", false),
            ("ada@@example.com", false), ("ada @example.com", false), ("ada@.com", false),
        ]
    )
    func emails(_ text: String, _ isPossible: Bool) {
        #expect(((try? EmailAddress(text)) != nil) == isPossible)
    }

    @Test("Lists are ordered by name, ignoring case")
    func order() async throws {
        let list = ListRestaurants(
            restaurants: InMemoryRepositories([
                try .fixture("3", "beta"), try .fixture("1", "Gamma"), try .fixture("2", "Alpha"),
            ])
        )
        #expect(try await list().map(\.name) == ["Alpha", "beta", "Gamma"])
    }

    @Test("Every error describes what happened and what to do")
    func errors() throws {
        let kinds: [DomainError.Kind] = [
            .restaurantNotFound(try RestaurantID("r-1")), .invalidRestaurantID("?"),
            .invalidUserName("?"), .ratingOutOfRange(9), .emptySearch, .sourceUnreachable,
            .sourceRefused, .sourceNotUnderstood, .storageFailed, .invalidEmail("?"),
            .invalidPlace("?"), .locationRefused, .locationUnknown,
            .missingPassword, .wrongPassword, .notSignedIn, .sessionEnded,
        ]
        for error in kinds.map({ DomainError($0) }) {
            #expect(error.errorDescription?.isEmpty == false)
            #expect(error.recoverySuggestion?.isEmpty == false)
        }
    }
}

@Suite("Use cases")
struct UseCaseTests {
    private let repositories: InMemoryRepositories
    private let ada: UserID
    private let gulls: RestaurantID

    init() throws {
        repositories = InMemoryRepositories([
            try .fixture("r-1", "Three Gulls"), try .fixture("r-2", "Salt Ladder"),
        ])
        ada = try UserID("ada")
        gulls = try RestaurantID("r-1")
    }

    @Test("Toggling a favorite twice restores the original state")
    func toggle() async throws {
        let toggle = ToggleFavourite(
            restaurants: repositories,
            favourites: repositories,
            now: { day(0) }
        )
        #expect(try await toggle(gulls, for: ada))
        #expect(repositories.favourites == [Favourite(user: ada, restaurant: gulls, since: day(0))])
        #expect(try await !toggle(gulls, for: ada))
        #expect(repositories.favourites == [])
    }

    @Test("An existing favorite keeps its date")
    func favouriteAgain() async throws {
        for number in 0...1 {
            let toggle = ToggleFavourite(
                restaurants: repositories,
                favourites: repositories,
                now: { day(number) }
            )
            try await toggle.add(gulls, for: ada)
        }
        #expect(repositories.favourites.map(\.since) == [day(0)])
    }

    @Test("A restaurant that does not exist cannot be liked or rated")
    func unknown() async throws {
        let id = try RestaurantID("r-9")
        let toggle = ToggleFavourite(
            restaurants: repositories,
            favourites: repositories,
            now: { day(0) }
        )
        let rate = RateRestaurant(restaurants: repositories, ratings: repositories, now: { day(0) })
        await #expect(throws: DomainError.self) { try await toggle(id, for: ada) }
        await #expect(throws: DomainError.self) { try await rate(id, stars: 3, for: ada) }
        #expect(repositories.favourites.isEmpty && repositories.ratings.isEmpty)
    }

    @Test("A rating out of range is rejected before anything is read or written")
    func ratingOutOfRange() async throws {
        let rate = RateRestaurant(restaurants: repositories, ratings: repositories, now: { day(0) })
        let error = await #expect(throws: DomainError.self) {
            try await rate(gulls, stars: 6, for: ada)
        }
        #expect(error?.kind == .ratingOutOfRange(6))
        #expect(repositories.ratings.isEmpty)
    }

    @Test("A search without a word is rejected")
    func emptySearch() async {
        let search = SearchRestaurants(restaurants: repositories)
        let error = await #expect(throws: DomainError.self) { try await search(" *") }
        #expect(error?.kind == .emptySearch)
    }

    @Test(
        "An impossible sign-in is rejected before any request",
        arguments: [
            ("ada", "engine", .invalidEmail("ada")), ("ada@example.com", nil, .missingPassword),
            ("ada@example.com", "", .missingPassword),
        ] as [(String, String?, DomainError.Kind)]
    )
    func signIn(_ email: String, _ password: String?, _ kind: DomainError.Kind) async throws {
        let signIn = SignIn(accounts: repositories)
        let error = await #expect(throws: DomainError.self) {
            try await signIn(email, password: password)
        }
        #expect(error?.kind == kind)
        #expect(try await repositories.signedInUser() == nil)
    }

    @Test("Nearby restaurants are ordered by distance, without those that have no location")
    func near() async throws {
        let harbour = try #require(Coordinate(latitude: 51.21, longitude: -3.38))
        let island = try #require(Coordinate(latitude: 51.30, longitude: -3.38))
        let repositories = InMemoryRepositories([
            try .fixture("r-1", "Far", at: island), try .fixture("r-2", "Near", at: harbour),
            try .fixture("r-3", "Nowhere"),
        ])
        let find = FindNearbyRestaurants(restaurants: repositories, whereabouts: repositories)
        let found = try await find(around: harbour)
        #expect(found.map(\.restaurant.name) == ["Near", "Far"])
        #expect(found.first?.metres == 0)
        // A degree of latitude is 111.2 km everywhere.
        #expect(abs((found.last?.metres ?? 0) - 10_007) < 10)
        #expect(try await find(around: island, limit: 1).map(\.restaurant.name) == ["Far"])

        let error = await #expect(throws: DomainError.self) { try await find() }
        #expect(error?.kind == .locationUnknown)
        repositories.set(island)
        #expect(try await find().first?.restaurant.name == "Far")
    }

    @Test(
        "A location is written in degrees north and east",
        arguments: [
            ("51.2,-3.38", true), (" 51.2 , -3.38 ", true), ("0,0", true), ("91,0", false),
            ("51.2", false), ("51.2,-3.38,1", false), ("here", false), ("nan,0", false),
        ]
    )
    func places(_ text: String, _ isPlace: Bool) {
        #expect(((try? Coordinate(text)) != nil) == isPlace)
    }

    @Test("Several restaurants are shown in the requested order")
    func showSeveral() async throws {
        let show = ShowRestaurant(
            restaurants: repositories,
            favourites: repositories,
            ratings: repositories
        )
        let ids = try ["r-2", "r-1", "r-2"].map { try RestaurantID($0) }
        #expect(try await show(ids, for: ada).map(\.restaurant.id) == ids)
        let error = await #expect(throws: DomainError.self) {
            try await show([gulls, RestaurantID("r-9")], for: ada)
        }
        #expect(error?.kind == .restaurantNotFound(try RestaurantID("r-9")))
    }

    @Test("A favorite whose restaurant is gone stays at the end of the list")
    func orphan() async throws {
        for id in ["r-0", "r-1"] {
            try await repositories.save(
                Favourite(user: ada, restaurant: RestaurantID(id), since: day(0))
            )
        }
        let list = ListFavourites(
            restaurants: repositories,
            favourites: repositories,
            ratings: repositories
        )
        #expect(try await list(for: ada).map(\.restaurant?.name) == ["Three Gulls", nil])
    }

    @Test("Watching reports the current state, then changes, and ends on request")
    func watch() async throws {
        try await repositories.save(Favourite(user: ada, restaurant: gulls, since: day(0)))
        let watch = WatchRestaurants(
            restaurants: repositories,
            favourites: repositories,
            ratings: repositories
        )
        let told = Told()
        try await watch(for: ada) { event in
            told.add(event)
            if case .favourited = event { return .enough }
            return .more
        }
        #expect(
            told.events == [
                .began(restaurants: 2, favourites: 0, ratings: 0),
                .favourited(RestaurantName(id: gulls, name: "Three Gulls")),
            ]
        )
    }
}

/// The events that a watcher received.
final class Told: Sendable {
    private let state = Mutex<[LiveEvent]>([])

    var events: [LiveEvent] { state.withLock { $0 } }

    func add(_ event: LiveEvent) { state.withLock { $0.append(event) } }
}
