public import Observation

/// One page of a list.
public struct Page<Element: Sendable>: Sendable {
    /// The page's elements.
    public let elements: [Element]

    /// The start of the next page; nil on the last.
    public let next: PageCursor?

    /// Creates a page.
    public init(_ elements: [Element], next: PageCursor?) {
        self.elements = elements
        self.next = next
    }

    /// Creates a page of a list with offsets; a page that is not full is the last.
    public init(_ elements: [Element], offset: Int, pageSize: Int) {
        let isLast = elements.count < pageSize
        self.init(elements, next: isLast ? nil : .offset(offset + elements.count))
    }
}

/// The start of a page.
public enum PageCursor: Sendable, Hashable {
    /// The token from the previous page.
    case token(String)
    /// The number of preceding elements.
    case offset(Int)

    /// The number of preceding elements; 0 for a token.
    public var offset: Int { if case .offset(let count) = self { count } else { 0 } }

    /// The token from the previous page, if there is one.
    public var token: String? { if case .token(let text) = self { text } else { nil } }
}

/// A list that is loaded page by page, for a view, on the main actor.
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
/// - Each page is loaded once: concurrent callers share the load.
/// - A failure keeps the loaded elements; the next ``loadMore()`` tries the same page again.
/// - ``reset()`` starts over, and discards a load in progress.
@MainActor
@Observable
public final class PagedList<Element: Sendable> {
    /// Loads the page at a cursor, nil for the first page; ``PagedList/error`` converts its error.
    public typealias Load = @Sendable (PageCursor?) async throws -> Page<Element>

    /// The loaded elements.
    public private(set) var items: [Element] = []

    /// Whether a page is being loaded.
    public private(set) var isLoading = false

    /// Whether all pages are loaded, or the pages form a cycle.
    public private(set) var isAtEnd = false

    /// The error of the last load; nil after a success.
    public private(set) var error: RepositoryError?

    @ObservationIgnored private let load: Load
    @ObservationIgnored private var cursor: PageCursor?
    @ObservationIgnored private var seen: Set<PageCursor> = []
    /// The current load, which is canceled with its last waiter.
    @ObservationIgnored private var flight: Flight?

    /// Creates an empty list.
    public init(_ load: @escaping Load) { self.load = load }

    /// Loads the next page, or waits for the current load; does nothing at the end of the list.
    public func loadMore() async {
        guard !isAtEnd, !Task.isCancelled else { return }
        let current = flight ?? begin()
        current.waiterCount += 1
        await withTaskCancellationHandler {
            await current.task?.value
        } onCancel: {
            Task { @MainActor in leave(current) }
        }
    }

    /// Loads pages until the end of the list or a failure.
    public func loadAll() async {
        repeat {
            await loadMore()
        } while !isAtEnd && error == nil && !Task.isCancelled
    }

    /// Starts over and loads the first page.
    ///
    /// The elements stay until the first page is loaded.
    public func reset() async {
        abandon()
        cursor = nil
        seen = []
        isAtEnd = false
        await loadMore()
    }

    // MARK: Parts

    @MainActor
    private final class Flight {
        var task: Task<Void, Never>?
        var waiterCount = 0
    }

    private func begin() -> Flight {
        isLoading = true
        let (flight, cursor, load) = (Flight(), cursor, load)
        flight.task = Task { [weak self] in
            let result: Result<Page<Element>, RepositoryError>
            do {
                result = .success(try await load(cursor))
            } catch {
                result = .failure(RepositoryError(error))
            }
            self?.end(flight, cursor, result)
        }
        self.flight = flight
        return flight
    }

    /// Ends the wait for a load; the last waiter cancels it.
    private func leave(_ left: Flight) {
        left.waiterCount -= 1
        guard left.waiterCount == 0 else { return }
        left.task?.cancel()
        if flight === left { abandon() }
    }

    /// Cancels the current load; the next caller starts another without waiting for its end.
    private func abandon() {
        flight?.task?.cancel()
        flight = nil
        isLoading = false
    }

    private func end(
        _ ended: Flight,
        _ from: PageCursor?,
        _ result: Result<Page<Element>, RepositoryError>
    ) {
        ended.task = nil
        guard flight === ended else { return }
        flight = nil
        isLoading = false
        switch result {
        case .success(let page):
            if from == nil { items = [] }
            items += page.elements
            cursor = page.next
            isAtEnd = page.next == nil
            error = nil
            // Circular pages would be loaded forever.
            if let next = page.next, !seen.insert(next).inserted {
                error = RepositoryError(DataSourceError.circularPages)
                isAtEnd = true
            }
        case .failure(let failure):
            // A cancellation here comes from the service: the list drops a load before it cancels it.
            error = failure
        }
    }
}

extension PagedList where Element: Identifiable {
    /// Loads the next page if the shown element is near the end.
    ///
    /// - Parameters:
    ///   - id: The element that is being shown.
    ///   - distance: The number of elements before the end at which the next page is loaded.
    public func loadMore(whenShowing id: Element.ID, within distance: Int = 5) async {
        guard items.suffix(distance).contains(where: { $0.id == id }) else { return }
        await loadMore()
    }
}
