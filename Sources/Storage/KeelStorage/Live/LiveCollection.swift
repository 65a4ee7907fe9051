public import KeelDocuments
public import Observation

/// The results of a query, kept up to date on the main actor for a view.
///
/// ```swift
/// // SwiftUI
/// struct RestaurantList: View {
///     @State var restaurants = LiveCollection(storage.collection("restaurants", as: Restaurant.self))
///     var body: some View {
///         List(restaurants.items) { Text($0.name) }
///             .task { await restaurants.run() }
///     }
/// }
/// ```
///
/// It listens during ``run()``, or from ``start()`` until it is stopped or released. After a failure, it sets
/// ``error``, keeps the values, and begins again after a delay of up to 30 seconds, unless the query itself is refused,
/// as with `StorageError/Code/invalidArgument`.
@MainActor
@Observable
public final class LiveCollection<Item: Sendable> {
    /// The values, in the query's order.
    public private(set) var items: [Item] = []
    /// The loading state of the query.
    public private(set) var phase = LivePhase.loading
    /// The error of listening; nil after a new result.
    public private(set) var error: StorageError?
    /// The documents that could not be read or decoded, by path.
    public private(set) var failures: [UnreadableDocument] = []
    /// Whether the store cannot be reached, so that the values may be out of date.
    public private(set) var isFromCache = false

    @ObservationIgnored private let reader: TypedReader<Item>
    @ObservationIgnored private var query: Result<DocumentQuery, StorageError>
    @ObservationIgnored private var question = 0
    @ObservationIgnored private let listening = LiveListening()

    /// Creates a live collection of the values that match a query.
    public init(
        _ documents: some TypedDocuments<Item>,
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) {
        reader = TypedReader(documents)
        query = reader.query(refine)
    }

    deinit { listening.stop() }

    /// Replaces the query; has no effect for the current one.
    ///
    /// Until the first result of the new query arrives, ``phase`` is ``LivePhase/loading``.
    ///
    /// ```swift
    /// live.show { $0.matching("\(text)*") }
    /// ```
    ///
    /// - Parameters:
    ///   - keepingItems: Whether the previous values stay until then.
    ///   - refine: Makes the query from the query for all documents.
    public func show(
        keepingItems: Bool = true,
        _ refine: (DocumentQuery) throws -> DocumentQuery
    ) {
        let asked = reader.query(refine)
        if case .success(let new) = asked, case .success(let old) = query, new == old { return }
        query = asked
        question += 1
        phase = .loading
        error = nil
        if !keepingItems {
            items = []
            failures = []
        }
        listening.restart()
    }

    /// Keeps the values up to date until ``stop()`` or its release.
    public func start() {
        listening.start { [weak self] in await Self.listen { self } }
    }

    /// Stops the listener that ``start()`` started; the values remain.
    public func stop() { listening.stop() }

    /// Keeps the values up to date until the task is canceled; can be called again.
    public func run() async {
        await listening.run { [weak self] in await Self.listen { self } }
    }

    /// Listens to one query, and again after each failure, without retaining the live collection during waits.
    private static func listen(to live: () -> LiveCollection?) async {
        guard let question = live()?.question, let reader = live()?.reader,
            let query = live()?.query
        else { return }
        let snapshots = CollectionSnapshots(reader: reader, query: query)
        var failures = LiveFailures()
        while true {
            do throws(StorageError) {
                var iterator = snapshots.makeAsyncIterator()
                while let snapshot = try await iterator.next() {
                    guard live()?.take(snapshot, of: question) == true else { return }
                    failures.reset()
                }
                return
            } catch {
                guard !Task.isCancelled, live()?.fail(error, of: question) == true else { return }
                let clock = reader.client.configuration.clock
                guard await failures.pause(after: error, on: clock) else { return }
            }
        }
    }

    private func take(_ snapshot: CollectionSnapshot<Item>, of question: Int) -> Bool {
        guard question == self.question else { return false }
        items = snapshot.items
        failures = snapshot.failures
        isFromCache = snapshot.isFromCache
        error = nil
        phase = .ready
        return true
    }

    private func fail(_ error: StorageError, of question: Int) -> Bool {
        guard question == self.question else { return false }
        self.error = error
        phase = .failed
        return true
    }
}

/// The loading state of a live value.
public enum LivePhase: Sendable, Hashable {
    /// No result has arrived yet.
    case loading
    /// There is a result.
    case ready
    /// Listening failed, or the document cannot be read or decoded.
    case failed
}
