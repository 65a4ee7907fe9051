public import KeelStorage
public import Testing

/// One promise of `StorageAdapter`, as a check that any adapter or decorator can be put to.
///
/// Run all of them, so that each promise is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: StorageAdapterCheck.applicable(to: MyStorageAdapter.capabilities))
/// func keepsItsPromises(_ check: StorageAdapterCheck) async throws {
///     try await check.run(on: MyStorageAdapter())
/// }
/// ```
///
/// A check works in collections of its own with random names: it can run on a store that holds
/// other data, and beside other checks. It leaves its documents behind.
public struct StorageAdapterCheck: Sendable, CustomTestStringConvertible {
    /// What a check is about.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading, writing and removing documents.
        case documents
        /// Every kind of value survives exactly.
        case values
        /// Ids and collection names.
        case paths
        /// Writes take effect together, in order.
        case batches
        /// What must hold before a write.
        case conditions
        /// Values that the store computes.
        case transforms
        /// A batch with an id takes effect once.
        case idempotency
        /// What was read has not changed.
        case transactions
        /// Which documents a query finds.
        case filters
        /// In what order.
        case orders
        /// Where a result begins and ends.
        case cursors
        /// How many documents a query finds.
        case limits
        /// Collections of one name at any depth.
        case collectionGroups
        /// Documents of all collections, at any depth.
        case everything
        /// Some fields of a document.
        case projections
        /// Counts, sums and averages.
        case aggregates
        /// Declared indexes change no result.
        case indexes
        /// Words in declared fields.
        case textSearch
        /// The change log.
        case changes
        /// Listeners of a client, while what they read fails.
        case listeners
        /// Documents stored with their times and revision.
        case replication
        /// The names of collections.
        case collections
        /// Documents as they were.
        case pointInTime
        /// Many tasks at a time.
        case concurrency
        /// Codes, effects and messages.
        case errors
        /// Whether an adapter refuses what it does not claim.
        case refusals
    }

    /// What the check is about.
    public let group: Group
    /// The promise, as a sentence about the adapter.
    public let promise: String
    /// What an adapter must claim for the promise to concern it.
    public let needs: StorageCapabilities
    /// What an adapter must not claim for the promise to concern it.
    public let concernsOnlyWithout: StorageCapabilities

    private let body: @Sendable (StoreUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: StorageCapabilities = [],
        without: StorageCapabilities = [],
        _ body: @escaping @Sendable (StoreUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        concernsOnlyWithout = without
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Puts an adapter to the check, recording an issue with the current test for each violation.
    ///
    /// - Throws: What the adapter throws where the promise leaves it no reason to.
    public func run(on adapter: some StorageAdapter) async throws {
        try await body(StoreUnderTest(adapter))
    }

    /// Whether the promise concerns an adapter with these capabilities.
    public func applies(to capabilities: StorageCapabilities) -> Bool {
        capabilities.isSuperset(of: needs) && capabilities.isDisjoint(with: concernsOnlyWithout)
    }

    /// The checks that concern an adapter with these capabilities.
    ///
    /// For each capability that is missing, they ask that the adapter refuses what needs it.
    public static func applicable(to capabilities: StorageCapabilities) -> [Self] {
        (all + refusals).filter { $0.applies(to: capabilities) }
    }

    /// The checks of one group.
    public static func all(in group: Group) -> [Self] {
        (all + refusals).filter { $0.group == group }
    }

    /// Every check of what an adapter with all capabilities does.
    public static let all: [Self] = [
        documents, values, paths, batches, conditions, transforms, idempotency, transactions,
        filters, orders, cursors, limits, collectionGroups, everything, projections, aggregates,
        indexes,
        textSearch, changes, listeners, replication, collections, pointInTime, heldReads,
        concurrency, errors,
    ].flatMap { $0 }
}
