internal import KeelCore
public import Observation

/// One page of a list.
public struct Page<Element: Sendable>: Sendable {
    /// The page's elements.
    public let elements: [Element]

    /// Where the next page begins; nil on the last.
    public let next: PageCursor?

    /// Creates a page.
    public init(_ elements: [Element], next: PageCursor?) {
        self.elements = elements
        self.next = next
    }

    /// Creates a page of a list that is counted: the next begins behind it, unless it is not full.
    public init(_ elements: [Element], offset: Int, pageSize: Int) {
        let isLast = elements.count < pageSize
        self.init(elements, next: isLast ? nil : .offset(offset + elements.count))
    }
}

/// Where a page begins.
public enum PageCursor: Sendable, Hashable {
    /// The token that the service gave with the page before.
    case token(String)
    /// How many elements come before it.
    case offset(Int)

    /// How many elements come before it, if pages are counted.
    public var offset: Int { if case .offset(let count) = self { count } else { 0 } }

    /// The token that the service gave with the page before, if it gave one.
    public var token: String? { if case .token(let text) = self { text } else { nil } }
}

/// A list that is loaded page by page, for a view: on the main actor.
///
/// ```swift
/// // SwiftUI
/// @State var results = PagedList<Restaurant> { cursor in
///     try await search(words, cursor)
/// }
/// // …
/// List(results.items) { restaurant in
///     Row(restaurant).task { await results.loadMore(whenShowing: restaurant.id) }
/// }
/// .task { await results.loadMore() }
/// ```
///
/// - Each page is loaded once: who asks while one is under way waits for that one.
/// - A failure leaves what is there; the next ``loadMore()`` tries the same page again.
/// - ``reset()`` begins anew, and what is under way for the old list no longer counts.
@MainActor
@Observable
public final class PagedList<Element: Sendable> {
    /// Loads the page that begins at a cursor; nil is the first.
    ///
    /// It may throw anything: ``PagedList/error`` says what it means for a repository.
    public typealias Load = @Sendable (PageCursor?) async throws -> Page<Element>

    /// The elements that have been loaded.
    public private(set) var items: [Element] = []

    /// Whether a page is being loaded.
    public private(set) var isLoading = false

    /// Whether all pages are here.
    public private(set) var isAtEnd = false

    /// Why the last page could not be loaded; nil once it was.
    public private(set) var error: RepositoryError?

    @ObservationIgnored private let load: Load
    @ObservationIgnored private var cursor: PageCursor?
    @ObservationIgnored private var seen: Set<PageCursor> = []
    /// Grows with each reset.
    @ObservationIgnored private var generation = 0
    /// The page under way, which ends with the last who wait for it.
    @ObservationIgnored private var flight: Flight?

    /// Creates a list that has loaded nothing yet.
    public init(_ load: @escaping Load) { self.load = load }

    /// Loads the next page, or waits for the one that is under way.
    ///
    /// At the end of the list it does nothing.
    public func loadMore() async {
        guard !isAtEnd, !Task.isCancelled else { return }
        let current = flight ?? begin()
        current.waiterCount += 1
        await withTaskCancellationHandler {
            await current.task.value
        } onCancel: {
            // Its last user takes the page with it.
            Task { @MainActor in current.leave() }
        }
    }

    /// Loads pages until the list is at its end or fails.
    public func loadAll() async {
        repeat {
            await loadMore()
        } while !isAtEnd && error == nil && !Task.isCancelled
    }

    /// Forgets everything and loads the first page.
    ///
    /// The elements stay until the first page is here, or could not be loaded.
    public func reset() async {
        generation += 1
        flight?.task.cancel()
        flight = nil
        cursor = nil
        seen = []
        isAtEnd = false
        await loadMore()
    }

    // MARK: Parts

    /// A page that is being loaded, and how many wait for it.
    @MainActor
    private final class Flight {
        let task: Task<Void, Never>
        var waiterCount = 0

        init(_ task: Task<Void, Never>) { self.task = task }

        func leave() {
            waiterCount -= 1
            if waiterCount == 0 { task.cancel() }
        }
    }

    private func begin() -> Flight {
        isLoading = true
        let (generation, cursor, load) = (generation, cursor, load)
        let task = Task { [weak self] in
            let result: Result<Page<Element>, RepositoryError>
            do {
                result = .success(try await load(cursor))
            } catch {
                result = .failure(RepositoryError(error))
            }
            self?.end(generation, cursor, result)
        }
        let flight = Flight(task)
        self.flight = flight
        return flight
    }

    private func end(
        _ generation: Int,
        _ from: PageCursor?,
        _ result: Result<Page<Element>, RepositoryError>
    ) {
        guard generation == self.generation else { return }
        flight = nil
        isLoading = false
        switch result {
        case .success(let page):
            if from == nil { items = [] }
            items += page.elements
            cursor = page.next
            isAtEnd = page.next == nil
            error = nil
            // Pages that lead in a circle would be loaded for ever.
            if let next = page.next, !seen.insert(next).inserted {
                error = RepositoryError(DataSourceError.circularPages)
                isAtEnd = true
            }
        case .failure(let failure):
            if !failure.isCancellation { error = failure }
        }
    }
}

extension PagedList where Element: Identifiable {
    /// Loads the next page if the element shown is among the last ones.
    ///
    /// - Parameters:
    ///   - id: The element that is being shown.
    ///   - distance: How many elements before the end the next page is wanted.
    public func loadMore(whenShowing id: Element.ID, within distance: Int = 5) async {
        guard items.suffix(distance).contains(where: { $0.id == id }) else { return }
        await loadMore()
    }
}
