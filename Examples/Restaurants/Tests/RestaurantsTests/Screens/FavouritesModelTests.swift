import KeelDependencies
import KeelTestKit
import RestaurantsDomain
import RestaurantsUI
import Testing

@MainActor
@Suite("Favorites screen", .timeLimit(.minutes(1)))
struct FavouritesModelTests {
    private let repositories = SampleRepositories.preview
    private let model: FavouritesModel
    private let list: RestaurantListModel
    private let full = DomainError(.storageFailed)

    init() {
        (model, list) = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: {
            let session = SessionModel()
            return (FavouritesModel(session), RestaurantListModel(session))
        }
    }

    private var names: [String?]? { model.content.value?.map(\.restaurant?.name) }

    @Test("The screen is loading, then shows favorites or none, and a failure can be retried")
    func load() async {
        #expect(model.content == .loading)
        repositories.fail(full)
        await model.load()
        #expect(model.content == ScreenFailure(full).map { .failed($0) })
        repositories.fail(nil)
        await model.load()
        #expect(names == ["Three Gulls"])
        await model.remove(Restaurant.samples[0].id)
        #expect(model.content == .empty && repositories.favourites.isEmpty)
        await model.load()
        #expect(model.content == .empty)
    }

    @Test("A refused removal restores the row with the reason")
    func refused() async {
        await model.load()
        let clock = TestClock()
        repositories.pause { try? await clock.sleep(for: .seconds(1)) }
        async let removed: Void = model.remove(Restaurant.samples[0].id)
        await clock.waitForSleepers()
        #expect(model.content == .empty)
        repositories.fail(full)
        await clock.advance(by: .seconds(1))
        await removed
        #expect(names == ["Three Gulls"] && model.notice == ScreenFailure(full))
        model.dismissNotice()
        #expect(model.notice == nil)
    }

    @Test("Favorites from another screen appear until the screen disappears")
    func follows() async throws {
        let following = Task { await model.follow() }
        try await waitUntil { names == ["Three Gulls"] && repositories.followers == 1 }
        await list.load()
        await list.toggleFavourite(Restaurant.samples[2].id)
        try await waitUntil { names == ["The Salt Ladder", "Three Gulls"] }
        following.cancel()
        await following.value
        #expect(repositories.followers == 0)
    }
}
