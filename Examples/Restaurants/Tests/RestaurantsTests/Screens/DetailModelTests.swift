import KeelDependencies
import KeelTestKit
import RestaurantsDomain
import RestaurantsUI
import Testing

@MainActor
@Suite("Restaurant screen", .timeLimit(.minutes(1)))
struct DetailModelTests {
    private let repositories = SampleRepositories(Restaurant.samples)
    private let id = Restaurant.samples[0].id
    private let model: RestaurantDetailModel
    private let full = DomainError(.storageFailed)

    init() {
        model = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: { [id] in
            RestaurantDetailModel(id, SessionModel())
        }
    }

    @Test("The screen is loading, then shows the restaurant, and a failure can be retried")
    func load() async {
        #expect(model.content == .loading)
        repositories.fail(full)
        await model.load()
        #expect(model.content == ScreenFailure(full).map { .failed($0) })
        repositories.fail(nil)
        await model.load()
        #expect(model.content.value?.restaurant == Restaurant.samples[0])
        #expect(!model.isFavourite && model.stars == nil)
    }

    @Test("A favorite is shown at once, then saved, and reverted if it is refused")
    func favourite() async {
        await model.load()
        let clock = TestClock()
        repositories.pause { try? await clock.sleep(for: .seconds(1)) }
        async let toggled: Void = model.toggleFavourite()
        await clock.waitForSleepers()
        #expect(model.isFavourite && repositories.favourites.isEmpty)
        repositories.pause(nil)
        await clock.advance(by: .seconds(1))
        await toggled
        #expect(repositories.favourites.map(\.restaurant) == [id])
        repositories.fail(full)
        await model.toggleFavourite()
        #expect(model.isFavourite && model.notice == ScreenFailure(full))
        model.dismissNotice()
        #expect(model.notice == nil)
    }

    @Test("Stars are shown at once, count in the average, and are reverted if they are refused")
    func rate() async {
        await model.load()
        await model.rate(4)
        #expect(model.stars == 4 && model.content.value?.summary?.average == 4)
        repositories.fail(full)
        await model.rate(1)
        #expect(model.stars == 4 && model.notice == ScreenFailure(full))
        repositories.fail(nil)
        await model.rate(9)
        #expect(model.stars == 4)
        #expect(model.notice == ScreenFailure(DomainError(.ratingOutOfRange(9))))
    }
}
