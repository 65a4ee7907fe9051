import KeelDependencies
import KeelTestKit
import RestaurantsDomain
import RestaurantsUI
import Testing

@MainActor
@Suite("Search screen", .timeLimit(.minutes(1)))
struct SearchModelTests {
    private let repositories = SampleRepositories(Restaurant.samples)
    private let clock = TestClock()
    private let model: SearchModel

    init() {
        model = withDependencies { [repositories] in
            $0.restaurants = repositories.useCases
        } operation: { [clock] in
            SearchModel(SessionModel(), pause: .milliseconds(300), clock: clock)
        }
    }

    private var names: [String]? { model.content?.value?.map(\.restaurant.name) }

    /// Types, like a view whose task restarts with each change.
    private func type(_ words: String, after task: Task<Void, Never>?) async -> Task<Void, Never> {
        task?.cancel()
        model.words = words
        let next = Task { await model.search() }
        await clock.waitForSleepers()
        return next
    }

    @Test("Nothing is requested while typing, and the last words are searched for")
    func debounced() async {
        var task = await type("t", after: nil)
        for words in ["th", "thr", "three"] {
            await clock.advance(by: .milliseconds(200))
            task = await type(words, after: task)
        }
        #expect(repositories.calls == [] && model.content == nil)
        await clock.advance(by: .milliseconds(300))
        await task.value
        #expect(repositories.calls == ["search three"])
        #expect(names == ["Three Gulls"])
    }

    @Test("A search without a word makes no request and shows nothing")
    func blank() async {
        model.words = " "
        await model.search()
        #expect(model.content == nil && repositories.calls == [])
    }

    @Test("No results are an answer, and a failure can be retried")
    func outcomes() async {
        let first = await type("nowhere", after: nil)
        await clock.advance(by: .milliseconds(300))
        await first.value
        #expect(model.content == .empty)

        let unreachable = DomainError(.sourceUnreachable)
        repositories.fail(unreachable)
        let second = await type("gulls", after: nil)
        await clock.advance(by: .milliseconds(300))
        await second.value
        #expect(model.content == ScreenFailure(unreachable).map { .failed($0) })
        repositories.fail(nil)
        await model.retry()
        #expect(names == ["Three Gulls"])
    }

    @Test("The result of an outdated search is not shown")
    func late() async {
        let slow = TestClock()
        repositories.pause { try? await slow.sleep(for: .seconds(1)) }
        let first = await type("gulls", after: nil)
        await clock.advance(by: .milliseconds(300))
        await slow.waitForSleepers()
        first.cancel()
        model.words = "ladder"
        await first.value
        #expect(names == nil)
        repositories.pause(nil)
        await model.retry()
        #expect(names == ["The Salt Ladder"])
    }
}
