import KeelDependencies
import KeelTestKit
import RestaurantsDomain
import RestaurantsUI
import Testing

@MainActor
@Suite("Restaurant list screen", .timeLimit(.minutes(1)))
struct RestaurantListModelTests {
    private let repositories = SampleRepositories(
        Restaurant.samples,
        at: Coordinate(latitude: 51.21, longitude: -3.38)
    )
    private let model: RestaurantListModel
    private let unreachable = DomainError(.sourceUnreachable)

    init() {
        model = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: {
            RestaurantListModel(SessionModel())
        }
    }

    private var names: [String]? { model.content.value?.map(\.restaurant.name) }
    private var isLiked: Bool? { model.content.value?.last?.isFavourite }

    @Test("The screen is loading, then shows restaurants by name")
    func loading() async {
        #expect(model.content == .loading)
        await model.load()
        #expect(names == ["Soup of the Day", "The Salt Ladder", "Three Gulls"])
        #expect(model.notice == nil && !model.isStale)
    }

    @Test("An empty list has its own state")
    func empty() async {
        repositories.replace([])
        await model.load()
        #expect(model.content == .empty)
    }

    @Test("A failure without content fills the screen, and a retry loads")
    func failed() async {
        repositories.fail(unreachable)
        await model.load()
        #expect(model.content == ScreenFailure(unreachable).map { .failed($0) })
        #expect(ScreenFailure(unreachable)?.advice?.contains("refresh again") == true)
        repositories.fail(nil)
        await model.load()
        #expect(names?.count == 3)
    }

    @Test("Offline, old content stays on the screen and is marked as stale until refreshed")
    func stale() async {
        await model.load()
        repositories.fail(unreachable)
        await model.refresh()
        #expect(names?.count == 3)
        #expect(model.isStale && model.notice == ScreenFailure(unreachable))
        model.dismissNotice()
        #expect(model.isStale && model.notice == nil)
        repositories.fail(nil)
        repositories.replace(Array(Restaurant.samples.prefix(1)))
        await model.refresh()
        #expect(names == ["Three Gulls"] && !model.isStale && model.notice == nil)
    }

    @Test("A cancelled load shows no error")
    func cancelled() async {
        await model.load()
        repositories.fail(DomainError(.cancelled))
        await model.load()
        await model.refresh()
        #expect(names?.count == 3 && model.notice == nil && !model.isStale)
    }

    @Test("A result that arrives after a later one is not shown")
    func late() async {
        let clock = TestClock()
        repositories.pause { try? await clock.sleep(for: .seconds(1)) }
        async let first: Void = model.load()
        await clock.waitForSleepers()
        repositories.pause(nil)
        repositories.replace(Array(Restaurant.samples.prefix(1)))
        await model.load()
        #expect(names == ["Three Gulls"])
        repositories.replace(Restaurant.samples)
        await clock.advance(by: .seconds(1))
        await first
        #expect(names == ["Three Gulls"])
    }

    @Test("Nearby restaurants are shown by distance, without those that have no location")
    func near() async throws {
        model.order = .distance
        await model.load()
        #expect(names == ["The Salt Ladder", "Three Gulls"])
        let metres = try #require(model.content.value?.first?.metres)
        #expect((100...120).contains(metres))
        #expect(model.content.value?.first?.summary.hasSuffix("m") == true)
    }

    @Test("A favorite is shown before it is saved")
    func optimistic() async throws {
        await model.load()
        let clock = TestClock()
        repositories.pause { try? await clock.sleep(for: .seconds(1)) }
        let id = Restaurant.samples[0].id
        async let toggled: Void = model.toggleFavourite(id)
        await clock.waitForSleepers()
        #expect(isLiked == true && repositories.favourites.isEmpty)
        repositories.pause(nil)
        await clock.advance(by: .seconds(1))
        await toggled
        #expect(isLiked == true && repositories.favourites.map(\.restaurant) == [id])
        await model.toggleFavourite(id)
        #expect(isLiked == false && repositories.favourites.isEmpty)
    }

    @Test("A refused favorite is reverted with the reason")
    func refused() async {
        await model.load()
        let full = DomainError(.storageFailed)
        repositories.fail(full)
        await model.toggleFavourite(Restaurant.samples[0].id)
        #expect(isLiked == false && model.notice == ScreenFailure(full))
        repositories.fail(nil)
        await model.load()
        #expect(isLiked == false)
    }

    @Test("A row has a summary below the name")
    func summaries() {
        #expect(RestaurantRow(Restaurant.samples[1]).summary == "Soups")
        #expect(
            RestaurantRow(Restaurant.samples[0], metres: 1_249).summary
                == "Fish & Chips · €€ · 4.7 of 5 · 1.2 km"
        )
    }
}
