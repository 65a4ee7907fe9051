public import Observation
internal import RestaurantsDomain

/// A search that waits until typing pauses.
///
/// A view runs ``search()`` in a task that restarts with each change of ``words``: `.task(id: model.words) { await
/// model.search() }`.
@MainActor
@Observable
public final class SearchModel {
    /// The results of the last search; nil if the search field is empty.
    public private(set) var content: ScreenContent<[RestaurantRow]>?
    /// The words to search for.
    public var words = ""

    private let pause: Duration
    private let clock: any Clock<Duration>
    private let useCases: UseCases

    /// Creates a search, which starts after a pause in typing.
    public init(
        _ session: SessionModel,
        pause: Duration = .milliseconds(300),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        useCases = session.useCases
        self.pause = pause
        self.clock = clock
    }

    /// Searches for the words after the pause, unless it is canceled before.
    public func search() async {
        let wanted = words
        guard wanted.contains(where: { !$0.isWhitespace }) else {
            content = nil
            return
        }
        do {
            try await clock.sleep(for: pause)
        } catch {
            return
        }
        await find(wanted)
    }

    /// Searches for the words again immediately, after a failure.
    public func retry() async { await find(words) }

    private func find(_ wanted: String) async {
        if content?.value == nil { content = .loading }
        let found: ScreenContent<[RestaurantRow]>
        do throws(DomainError) {
            found = .list(try await useCases.search(wanted).map { RestaurantRow($0) })
        } catch {
            guard let failure = ScreenFailure(error) else { return }
            found = .failed(failure)
        }
        // Late results of an earlier search are discarded.
        guard wanted == words, !Task.isCancelled else { return }
        content = found
    }
}
