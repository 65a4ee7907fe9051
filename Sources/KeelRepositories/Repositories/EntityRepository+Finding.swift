#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension EntityRepository {
    /// Returns the things that words describe, in the order of the service.
    ///
    /// Entities that the service finds are kept like all others that it sends, and its answer is
    /// remembered for these words by this process, the newest 256 of them. A policy that asks what
    /// is kept gets that answer, with the things as they are here now; without one, `cacheOnly`
    /// fails with `notKept`, as does everything that needs the service with `unreachable`. To look
    /// among the things that are kept, use ``query(where:_:)``.
    ///
    /// - Throws: ``RepositoryError``, with the code `unsupported` where the service's description
    ///   says nothing of a search.
    public func search(
        _ words: String,
        _ policy: FetchPolicy = .networkFirst
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedSearch(words, policy).value
    }

    /// Returns the things that words describe, and how current the answer is.
    ///
    /// - Throws: ``RepositoryError``.
    public func fetchedSearch(
        _ words: String,
        _ policy: FetchPolicy = .networkFirst
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        let operations = operations
        return try await loader.load(recipe { operations.search(words, $0) }, policy)
    }

    /// Returns the things that fulfil a condition, from this device.
    ///
    /// ```swift
    /// let thai = try await restaurants.query(
    ///     where: #Predicate<RestaurantDTO> { $0.cuisine == "thai" }
    /// )
    /// ```
    ///
    /// The policy says how current all things have to be, as in ``all(_:)``: where it asks the
    /// service, all things are loaded first. The store then answers the condition, by an index where
    /// it has one.
    ///
    /// - Parameters:
    ///   - predicate: A condition on the DTOs that are kept.
    ///   - policy: How current all things have to be.
    /// - Returns: The entities that fulfil it, in the order of the store.
    /// - Throws: ``RepositoryError``, with the code `unsupported` for a condition on another type.
    public func query<DTO: Sendable>(
        where predicate: Predicate<DTO>,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedQuery(where: predicate, policy).value
    }

    /// Returns the things that fulfil a condition, and how current all things are.
    ///
    /// - Throws: ``RepositoryError``.
    public func fetchedQuery<DTO: Sendable>(
        where predicate: Predicate<DTO>,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        let owner = try await owner()
        let freshness = try await loader.load(recipe(operations.presence), policy).freshness
        return try await RepositoryError.mapping {
            let found = try await operations.find(predicate)
            try loader.core.owners.check(owner, in: operations.home)
            return Fetched(found, freshness)
        }
    }
}
