import KeelDependencies
import RestaurantsDomain
import RestaurantsUI
import SwiftUI
import Testing

@testable import RestaurantsViews

/// Builds every body, and checks that it shows its model and that its controls work.
@MainActor
@Suite("Screens on the stand-in", .timeLimit(.minutes(1)))
struct ScreenTests {
    private let repositories = SampleRepositories.preview

    /// Creates a model or a screen that uses the samples.
    private func made<Made>(_ make: () -> Made) -> Made {
        withDependencies {
            $0.restaurants = repositories.useCases
        } operation: {
            make()
        }
    }

    /// Presses a button.
    private func tap(_ button: String, of outline: Outline) throws {
        let action = try #require(outline.buttons[button])
        action()
    }

    /// Presses a button, and waits for the screen's update.
    private func press(_ button: String, of outline: Outline) async throws {
        try tap(button, of: outline)
        await outline.waitForChange()
    }

    private func type(_ text: String, into field: String, of outline: Outline) throws {
        let binding = try #require(outline.fields[field])
        binding.wrappedValue = text
    }

    @Test("The list shows details of restaurants and likes one with a swipe")
    func list() async throws {
        let session = made { SessionModel() }
        let list = made { RestaurantListScreen(session) }
        let first = Outline(of: list)
        #expect(first.indicators == 1 && first.texts.contains("Restaurants"))
        await first.tasks[0]()
        let second = Outline(of: list)
        #expect(second.texts.contains("Three Gulls"))
        #expect(second.texts.contains("Fish & Chips · €€ · 4.7 of 5"))
        #expect(second.texts.contains("Soups"))
        #expect(second.images == ["heart.fill"] && second.indicators == 0)
        let link = try #require(second.links.first)
        #expect(second.destination(of: link) is RestaurantDetailScreen)
        try await press("Unlike", of: second)
        #expect(Outline(of: list).images == [])
    }

    @Test("The list can be ordered by distance")
    func order() async throws {
        let session = made { SessionModel() }
        let list = made { RestaurantListScreen(session) }
        let choose = try #require(Outline(of: list).pickers["Order"])
        choose(RestaurantListModel.Order.distance)
        await Outline(of: list).tasks[0]()
        let names = Outline(of: list).texts.filter {
            ["The Salt Ladder", "Three Gulls"].contains($0)
        }
        #expect(names == ["The Salt Ladder", "Three Gulls"])
    }

    @Test("A failed load shows an error and can be retried")
    func retry() async throws {
        repositories.fail(DomainError(.sourceUnreachable))
        let session = made { SessionModel() }
        let list = made { RestaurantListScreen(session) }
        await Outline(of: list).tasks[0]()
        let failed = Outline(of: list)
        #expect(failed.texts.contains("The restaurant service could not be reached."))
        #expect(failed.images == ["exclamationmark.triangle"])
        repositories.fail(nil)
        try tap("Try again", of: failed)
        await failed.waitForChange()
        var outline = Outline(of: list)
        while outline.indicators > 0 {
            await outline.waitForChange()
            outline = Outline(of: list)
        }
        #expect(outline.texts.contains("Three Gulls"))
    }

    @Test("A stale list stays below a dismissible notice when it cannot be refreshed")
    func stale() async throws {
        let session = made { SessionModel() }
        let list = made { RestaurantListScreen(session) }
        await Outline(of: list).tasks[0]()
        repositories.fail(DomainError(.sourceUnreachable))
        let refresh = try #require(Outline(of: list).refreshes.first)
        await refresh()
        let stale = Outline(of: list)
        #expect(stale.texts.contains("The restaurant service could not be reached."))
        #expect(stale.texts.contains("Three Gulls"))
        try tap("Dismiss", of: stale)
        #expect(!Outline(of: list).texts.contains("The restaurant service could not be reached."))
    }

    @Test("An empty list has its own message")
    func empty() async {
        repositories.replace([])
        let session = made { SessionModel() }
        let list = made { RestaurantListScreen(session) }
        await Outline(of: list).tasks[0]()
        #expect(Outline(of: list).texts.contains("The service has no restaurants."))
    }

    @Test("Details show every field and accept a favorite and stars")
    func detail() async throws {
        let session = made { SessionModel() }
        let id = Restaurant.samples[0].id
        let detail = made { RestaurantDetailScreen(id, session) }
        await Outline(of: detail).tasks[0]()
        let shown = Outline(of: detail)
        for text in [
            "Three Gulls", "Fish & Chips · €€ · 4.7 of 5", "82 Quay Lane, H-10", "+44-1632-960102",
            "restaurants.example", "Mon-Fri: 11:00-22:00", "Sat-Sun: 12:00-23:00", "A favourite",
        ] {
            #expect(shown.texts.contains(text), "\(text)")
        }
        #expect(shown.images.contains("photo"))
        try await press("A favourite", of: shown)
        #expect(Outline(of: detail).texts.contains("Make it a favourite"))
        try await press("4 stars", of: Outline(of: detail))
        #expect(Outline(of: detail).images.count { $0 == "star.fill" } == 4)
    }

    @Test("The search finds what was typed and shows a hint before")
    func search() async throws {
        let session = made { SessionModel() }
        let search = made { SearchScreen(session, pause: .zero) }
        let first = Outline(of: search)
        #expect(first.texts.contains("Search by name, cuisine or street."))
        try type("gulls", into: "Search", of: first)
        await first.waitForChange()
        await Outline(of: search).tasks[0]()
        let found = Outline(of: search)
        #expect(found.texts.contains("Three Gulls") && !found.texts.contains("The Salt Ladder"))
        try type("nothing such", into: "Search", of: found)
        await Outline(of: search).tasks[0]()
        #expect(Outline(of: search).texts.contains("No restaurant has all of these words."))
    }

    @Test("Favorites are shown, follow changes made elsewhere, and are removed with a swipe")
    func favourites() async throws {
        let session = made { SessionModel() }
        let favourites = made { FavouritesScreen(session) }
        var outline = Outline(of: favourites)
        let following = Task { [outline] in await outline.tasks[0]() }
        await outline.waitForChange()
        outline = Outline(of: favourites)
        #expect(outline.texts.contains("Three Gulls"))
        try await press("Remove", of: outline)
        outline = Outline(of: favourites)
        #expect(outline.texts.contains("No favorites yet."))
        following.cancel()
        await following.value
    }

    @Test("Signing in takes an address and a password, shows errors, and signs out")
    func signIn() async throws {
        let session = made { SessionModel() }
        let form = SignInScreen(session)
        let first = Outline(of: form)
        #expect(first.disabledButtons == ["Sign in"])
        try type("ada@example.com", into: "E-mail", of: first)
        try type("motor", into: "Password", of: first)
        let filled = Outline(of: form)
        #expect(filled.disabledButtons == [])
        await session.signIn()
        #expect(Outline(of: form).texts.contains("The e-mail address or the password is wrong."))
        try type("engine", into: "Password", of: first)
        try await press("Sign in", of: Outline(of: form))
        while session.user == nil { await Outline(of: form).waitForChange() }
        #expect(Outline(of: form).texts.contains("ada@example.com"))
        try tap("Sign out", of: Outline(of: form))
        while session.user != nil { await Outline(of: form).waitForChange() }
        #expect(Outline(of: form).texts.contains("E-mail"))
    }

    @Test("The whole app has its four tabs and restores the session")
    func whole() async {
        let outline = made { Outline(of: RestaurantsView()) }
        for title in ["Restaurants", "Search", "Favourites", "Account"] {
            #expect(outline.texts.contains(title), "\(title)")
        }
        #expect(outline.tasks.count == 4)
    }

    @Test("Previews show samples")
    func previews() {
        let rows = Outline(of: RestaurantRowPreviews.previews)
        #expect(rows.texts.contains("Fish & Chips · €€ · 4.7 of 5 · 230 m"))
        let whole = made { Outline(of: RestaurantsPreviews.previews) }
        #expect(whole.texts.contains("Account"))
    }
}
