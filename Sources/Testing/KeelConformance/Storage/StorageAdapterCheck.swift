public import KeelStorage
public import Testing

/// A promise of `StorageAdapter` as a check for any adapter or decorator.
///
/// Run all checks as arguments, so that each is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: StorageAdapterCheck.applicable(to: MyStorageAdapter.capabilities))
/// func keepsItsPromises(_ check: StorageAdapterCheck) async throws {
///     try await check.run(on: MyStorageAdapter())
/// }
/// ```
///
/// A check works in its own collections with random names, so that it can run on a store with other data and beside
/// other checks. It does not delete its documents.
public struct StorageAdapterCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading, writing and deleting documents.
        case documents
        /// Exact survival of every kind of value.
        case values
        /// Ids and collection names.
        case paths
        /// Atomic and ordered batches.
        case batches
        /// Write conditions.
        case conditions
        /// Values that the store computes.
        case transforms
        /// Batches with an id, which take effect once.
        case idempotency
        /// Batches that depend on reads.
        case transactions
        /// Filters of queries.
        case filters
        /// The order of results.
        case orders
        /// Cursors of queries.
        case cursors
        /// Limits and offsets of queries.
        case limits
        /// Queries over collections of one name at any depth.
        case collectionGroups
        /// Queries over documents of all collections.
        case everything
        /// Projections of documents.
        case projections
        /// Counts, sums and averages.
        case aggregates
        /// Declared indexes, which change no result.
        case indexes
        /// Text search in declared fields.
        case textSearch
        /// The change log.
        case changes
        /// The results of queries, as an adapter follows them.
        case results
        /// Listeners of a client whose reads fail.
        case listeners
        /// Documents replicated with their times and revisions.
        case replication
        /// The names of collections.
        case collections
        /// Reads of past states.
        case pointInTime
        /// Concurrent tasks.
        case concurrency
        /// The codes, effects and messages of errors.
        case errors
        /// Refusal of calls that need an undeclared capability.
        case refusals
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the adapter.
    public let promise: String
    /// The capabilities that an adapter must declare for the promise to apply.
    public let needs: StorageCapabilities
    /// The capabilities that an adapter must not declare for the promise to apply.
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

    /// Runs the check on an adapter, recording an issue for each violation.
    ///
    /// - Throws: An error of the adapter that the promise does not allow.
    public func run(on adapter: some StorageAdapter) async throws {
        try await body(StoreUnderTest(adapter))
    }

    /// Returns whether the promise applies to an adapter with these capabilities.
    public func applies(to capabilities: StorageCapabilities) -> Bool {
        capabilities.isSuperset(of: needs) && capabilities.isDisjoint(with: concernsOnlyWithout)
    }

    /// Returns the checks that apply to an adapter with these capabilities.
    ///
    /// They include checks that it refuses the calls for which it lacks the capability.
    public static func applicable(to capabilities: StorageCapabilities) -> [Self] {
        (all + refusals).filter { $0.applies(to: capabilities) }
    }

    /// Returns the checks of one group.
    public static func all(in group: Group) -> [Self] {
        (all + refusals).filter { $0.group == group }
    }

    /// All checks of an adapter that has every capability.
    public static let all: [Self] = [
        documents, values, paths, batches, conditions, transforms, idempotency, transactions,
        filters, orders, cursors, limits, collectionGroups, everything, projections, aggregates,
        indexes,
        textSearch, changes, results, listeners, replication, collections, pointInTime, heldReads,
        concurrency, errors,
    ].flatMap { $0 }
}
