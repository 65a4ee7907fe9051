import Foundation
import RestaurantsData
import RestaurantsDomain
import Testing

@testable import RestaurantsPresentation

@Suite("Terminal rendering")
struct RenderingTests {
    private let screen = Screen(width: 60) { _ in }

    @Test("A list is a table that fits the screen")
    func list() throws {
        let restaurants = [
            try Restaurant.fixture("r-1", "Ramen Under the Very Old Clock", scores: [2]),
            try Restaurant.fixture("r-22", "Ox", cuisine: "Café/Coffee/Tea and more besides"),
        ]
        #expect(
            RestaurantListView.render(restaurants, limit: nil, screen) == """
                ID    NAME                CUISINE             BOROUGH  GRADE
                r-1   Ramen Under the V…  Seafood             Harbour  A
                r-22  Ox                  Café/Coffee/Tea a…  Harbour
                2 restaurants.
                """
        )
    }

    @Test("A column without content is omitted")
    func columns() throws {
        let restaurants = [
            try Restaurant.fixture("r-1", "Three Gulls", rating: 4.5, price: 2),
            try Restaurant.fixture("r-2", "Ox"),
        ]
        #expect(
            RestaurantListView.render(restaurants, limit: nil, screen) == """
                ID   NAME         CUISINE  BOROUGH  RATING  PRICE
                r-1  Three Gulls  Seafood  Harbour  4.5     €€
                r-2  Ox           Seafood  Harbour
                2 restaurants.
                """
        )
    }

    @Test("Nearby restaurants are listed with their distance")
    func near() throws {
        let near = [
            NearbyRestaurant(restaurant: try .fixture("r-1", "Three Gulls"), metres: 994.9),
            NearbyRestaurant(restaurant: try .fixture("r-2", "Ox"), metres: 1_249),
        ]
        #expect(
            RestaurantListView.render(near, screen) == """
                ID   NAME         CUISINE  BOROUGH  AWAY
                r-1  Three Gulls  Seafood  Harbour  990 m
                r-2  Ox           Seafood  Harbour  1.2 km
                The nearest 2 restaurants.
                """
        )
    }

    @Test("A truncated list says so, and an empty one gives a hint")
    func ends() throws {
        let one = [try Restaurant.fixture("r-1", "Ox")]
        #expect(
            RestaurantListView.render(one, limit: 1, screen).hasSuffix("The first 1 restaurants.")
        )
        #expect(RestaurantListView.render([], limit: 1, screen).hasPrefix("No restaurants."))
        #expect(
            RestaurantListView.render(one, searchedFor: "ox", screen)
                .hasSuffix("1 restaurant for “ox”.")
        )
    }

    @Test("Details show the restaurant, the user’s choices and all users’ ratings")
    func details() throws {
        let restaurant = try Restaurant.fixture("r-1", "Three Gulls", scores: [2, 9])
        let ada = try UserID("ada")
        let rating = Rating(
            user: ada,
            restaurant: restaurant.id,
            stars: try Stars(4),
            date: day(1)
        )
        let details = RestaurantDetails(
            restaurant: restaurant,
            favourite: Favourite(user: ada, restaurant: restaurant.id, since: day(1)),
            ownRating: rating,
            summary: RatingSummary([rating])
        )
        #expect(
            RestaurantDetailView.render(details, screen) == """
                Three Gulls  r-1
                Seafood
                1 Quay Lane, Harbour

                ♥ your favourite since 2026-03-02
                ★★★★☆ your rating
                4.0 stars from 1 user

                INSPECTED   GRADE  SCORE
                2026-03-02  A      9
                2026-03-01  A      2
                Average score 5.5; fewer is better.
                """
        )
    }

    @Test("Details show everything that the service knows")
    func allDetails() throws {
        let restaurant = Restaurant(
            id: try RestaurantID("r-1"),
            name: "Three Gulls",
            cuisine: "Seafood",
            rating: 4.5,
            priceLevel: PriceLevel(3),
            address: "1 Quay Lane",
            location: Coordinate(latitude: 51.2, longitude: -3.38),
            phoneNumber: "+44 1632 960001",
            website: URL(string: "https://gulls.example"),
            openingHours: ["Mon-Fri: 11:00-22:00", "Sat: 12:00-23:00"]
        )
        let details = RestaurantDetails(
            restaurant: restaurant,
            favourite: nil,
            ownRating: nil,
            summary: nil
        )
        #expect(
            RestaurantDetailView.render(details, screen) == """
                Three Gulls  r-1
                Seafood · €€€ · 4.5 of 5 from guests
                1 Quay Lane
                51.2000° N, 3.3800° W
                +44 1632 960001 · https://gulls.example
                Mon-Fri: 11:00-22:00
                Sat: 12:00-23:00

                Nobody has rated it yet.
                """
        )
    }

    @Test("Each live event is one line")
    func live() throws {
        let (ada, id) = (try UserID("ada"), try RestaurantID("r-1"))
        let gulls = RestaurantName(id: id, name: "Three Gulls")
        let lines = [
            .began(restaurants: 3, favourites: 1, ratings: 0), .favourited(gulls),
            .rated(gulls, try Stars(5)), .unfavourited(RestaurantName(id: id, name: nil)),
            .many(added: 7, changed: 0, removed: 1),
        ].map { LiveView.render($0, for: ada, .plain) }
        #expect(
            lines == [
                "Watching for ada: 3 restaurants, 1 favourites, 0 ratings.",
                "♥ ada likes Three Gulls (r-1)",
                "★★★★★ ada rates Three Gulls (r-1)",
                "♡ ada no longer likes r-1",
                "~ restaurants: 7 new, 0 changed, 1 gone",
            ]
        )
    }

    @Test("Pending changes are listed and selected by an id prefix")
    func pending() async throws {
        let repositories = InMemoryRepositories([try .fixture("r-1", "Three Gulls")])
        func change(
            _ id: String,
            _ subject: PendingChange.Subject,
            _ restaurant: String,
            _ state: PendingChange.State
        ) throws -> PendingChange {
            PendingChange(
                id: id,
                subject: subject,
                restaurant: try RestaurantID(restaurant),
                since: day(0),
                state: state
            )
        }
        repositories.set([
            try change("0a-long-id", .favourite, "r-1", .waiting(nil)),
            try change("1b", .rating, "r-9", .refused("status 404")),
        ])
        let useCases = UseCases(
            restaurants: repositories,
            favourites: repositories,
            ratings: repositories,
            changes: repositories,
            accounts: repositories,
            whereabouts: repositories,
            usage: NoUsage(),
            now: { day(0) }
        )
        let shown = Lines()
        let runner = CommandRunner(useCases, on: Screen { shown.add($0) })
        let ada = try UserID("ada")
        try await runner.run(.pending(nil), as: ada)
        try await runner.run(.pending(.retry("1")), as: ada)
        try await runner.run(.pending(.discard("0a-")), as: ada)
        try await runner.run(.pending(.discard("1b")), as: ada)
        let table = """
            ID        CHANGE     RESTAURANT   STATE
            0a-long-  favourite  Three Gulls  waiting
            1b        rating     r-9          refused: status 404
            1 waiting, 1 refused, of ada.
            """
        let rest = """
            ID  CHANGE  RESTAURANT  STATE
            1b  rating  r-9         refused: status 404
            0 waiting, 1 refused, of ada.
            """
        #expect(shown.all == [table, table, rest, "Nothing of ada waits for the service."])
        #expect(repositories.retried == ["1b"])
        let error = await #expect(throws: DomainError.self) {
            try await runner.run(.pending(.retry("1")), as: ada)
        }
        #expect(error?.kind == .changeNotFound("1"))
    }

    @Test("An error shows its kind, advice and cause")
    func error() {
        struct Refused: Error, CustomStringConvertible { let description = "port closed" }
        let error = DomainError(.sourceUnreachable, cause: Refused())
        let lines = ErrorView.render(error, .plain).split(separator: "\n")
        #expect(
            lines.first == "error (sourceUnreachable): The restaurant service could not be reached."
        )
        #expect(lines.last == "  cause: port closed")
        #expect(lines.count == 3)
    }

    @Test("Escape codes appear only on a terminal")
    func styles() {
        #expect(Style.plain.bold("x") == "x")
        #expect(Style.terminal.bold("x") == "\u{1B}[1mx\u{1B}[0m")
    }

    @Test("A command runs its use case and shows the outcome")
    func runner() async throws {
        let repositories = InMemoryRepositories([try .fixture("r-1", "Three Gulls")])
        let useCases = UseCases(
            restaurants: repositories,
            favourites: repositories,
            ratings: repositories,
            changes: repositories,
            accounts: repositories,
            whereabouts: repositories,
            usage: NoUsage(),
            now: { day(0) }
        )
        let shown = Lines()
        let runner = CommandRunner(useCases, on: Screen { shown.add($0) }) { "engine" }
        let ada = try UserID("ada")
        try await runner.run(.favourite("r-1"), as: ada)
        try await runner.run(.rate("r-1", stars: 3), as: ada)
        try await runner.run(.favourites, as: ada)
        try await runner.run(.login(email: "ada@example.com"), as: ada)
        try await runner.run(.whoami, as: ada)
        try await runner.run(.logout, as: ada)
        try await runner.run(.logout, as: ada)
        #expect(
            shown.all == [
                "♥ Three Gulls is a favourite of ada.",
                "★★★☆☆ for Three Gulls, given by ada.",
                """
                ID   NAME         BOROUGH  RATING  SINCE
                r-1  Three Gulls  Harbour  ★★★☆☆   2026-03-01
                1 favourite of ada.
                """,
                "Signed in as Ada Lovelace (ada).",
                "Ada Lovelace (ada), ada@example.com",
                "Signed out Ada Lovelace (ada).",
                "Nobody was signed in.",
            ]
        )
    }
}
