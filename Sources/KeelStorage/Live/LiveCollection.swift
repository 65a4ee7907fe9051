public import KeelDocuments
public import Observation

/// The values that a query finds, for a view: always current, on the main actor.
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
/// It listens while ``run()`` does, or from ``start()`` until it is let go; without either it shows what
/// it saw last. A failure does not end it: ``error`` tells it, the values stay, and it listens again by
/// itself, after a pause of half a minute at the most.
@MainActor
@Observable
public final class LiveCollection<Item: Sendable> {
    /// The values, in the query's order.
    public private(set) var items: [Item] = []
    /// How far the result of the query has come.
    public private(set) var phase = LivePhase.loading
    /// Why the values are not kept current; nil again when they are.
    public private(set) var error: StorageError?
    /// The documents that cannot be shown, because they cannot be read or decoded, by path.
    public private(set) var failures: [UnreadableDocument] = []

    @ObservationIgnored private let reader: TypedReader<Item>
    @ObservationIgnored private var query: Result<DocumentQuery, StorageError>
    /// How often another query was asked for.
    @ObservationIgnored private var question = 0
    @ObservationIgnored private let listening = LiveListening()

    /// Creates a live view of the values that a query finds.
    public init(
        _ documents: some TypedDocuments<Item>,
        _ refine: (DocumentQuery) throws -> DocumentQuery = { $0 }
    ) {
        reader = TypedReader(documents)
        query = reader.query(refine)
    }

    deinit { listening.stop() }

    /// Shows what another query finds.
    ///
    /// The listener to the query before ends. Its values stay until those of the new one are there, so
    /// that a list does not flicker; ``phase`` is ``LivePhase/loading`` meanwhile. Asking for the query
    /// that is shown changes nothing.
    ///
    /// ```swift
    /// live.show { $0.matching("\(text)*") }
    /// ```
    ///
    /// - Parameters:
    ///   - keepingItems: Whether the values stay until the new ones are there.
    ///   - refine: Makes the query from that for all documents.
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

    /// Keeps the values current from now on, until the live collection is let go or stopped.
    public func start() {
        listening.start { [weak self] in await Self.listen { self } }
    }

    /// Ends what ``start()`` has begun; the values stay.
    public func stop() { listening.stop() }

    /// Keeps the values current until the task is cancelled.
    ///
    /// It can be called again afterwards, for example when a view reappears.
    public func run() async {
        await listening.run { [weak self] in await Self.listen { self } }
    }

    /// Listens to one query, and again after each failure.
    ///
    /// The live collection is not held while it waits.
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

    /// Shows what was found, unless another query has been asked for meanwhile.
    private func take(_ snapshot: CollectionSnapshot<Item>, of question: Int) -> Bool {
        guard question == self.question else { return false }
        items = snapshot.items
        failures = snapshot.failures
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

/// How far a live value has come.
public enum LivePhase: Sendable, Hashable {
    /// Nothing has been read yet for the query.
    case loading
    /// There is a value, and it is kept current while the live value runs.
    case ready
    /// Listening failed, or the one document cannot be read; the last value stays.
    case failed
}
