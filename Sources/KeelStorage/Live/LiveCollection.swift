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
/// It listens while ``run()`` does; without it, it shows what it saw last. What passes, such as a lost
/// connection, does not end it: the values stay, and are current again when the store answers.
@MainActor
@Observable
public final class LiveCollection<Item: Codable & Sendable> {
    /// The values, in the query's order.
    public private(set) var items: [Item] = []
    /// How far the first result has come.
    public private(set) var phase = LivePhase.loading
    /// Why listening ended, if it failed for good.
    public private(set) var error: StorageError?
    /// The documents that cannot be shown, because they cannot be read or decoded, by path.
    public private(set) var failures: [UnreadableDocument] = []

    @ObservationIgnored private let snapshots: CollectionSnapshots<Item>

    /// Creates a live view of the values that a query finds.
    public init(
        _ collection: DocumentCollection<Item>,
        _ refine: (DocumentQuery) -> DocumentQuery = { $0 }
    ) {
        snapshots = collection.listen(refine)
    }

    /// Keeps the values current until the task is cancelled or listening fails for good.
    ///
    /// It can be called again afterwards, for example when a view reappears.
    public func run() async {
        do throws(StorageError) {
            error = nil
            for try await snapshot in snapshots {
                items = snapshot.items
                failures = snapshot.failures
                phase = .ready
            }
        } catch {
            self.error = error
            phase = .failed
        }
    }
}

/// How far a live value has come.
public enum LivePhase: Sendable, Hashable {
    /// Nothing has been read yet.
    case loading
    /// There is a value, and it is kept current while the live value runs.
    case ready
    /// Listening ended with an error, or the one document cannot be read; the last value stays.
    case failed
}
