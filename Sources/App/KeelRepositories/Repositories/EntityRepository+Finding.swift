#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

extension EntityRepository {
    /// Searches the service and returns the entities in the service's order.
    ///
    /// Found entities are kept on the device like all others, and the last 256 results in memory. A policy that reads
    /// copies uses a kept result with the current entities. Without a kept result, `cacheOnly` fails with `notCached`,
    /// and other policies fail with `unreachable` if the service is unreachable. To search the kept entities, use
    /// ``query(where:_:)``.
    ///
    /// - Throws: ``RepositoryError``, with the code `unsupported` if the service has no search.
    public func search(
        _ words: String,
        _ policy: FetchPolicy = .networkFirst
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedSearch(words, policy).value
    }

    /// Searches the service and returns the entities and their freshness.
    ///
    /// - Throws: ``RepositoryError``, as from ``search(_:_:)``.
    public func fetchedSearch(
        _ words: String,
        _ policy: FetchPolicy = .networkFirst
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        let operations = operations
        return try await loader.load(recipe { operations.search(words, $0) }, policy)
    }

    /// Returns the entities on the device that match a predicate.
    ///
    /// ```swift
    /// let thai = try await restaurants.query(
    ///     where: #Predicate<RestaurantDTO> { $0.cuisine == "thai" }
    /// )
    /// ```
    ///
    /// The policy applies to all entities, as in ``all(_:)``: if it requires the service, all entities are loaded
    /// first. The local source then evaluates the predicate.
    ///
    /// - Parameters:
    ///   - predicate: A predicate on the kept DTOs.
    ///   - policy: The policy for all entities.
    /// - Returns: The matching entities, in the order of the store.
    /// - Throws: ``RepositoryError``, with the code `unsupported` for a predicate on another type.
    public func query<DTO: Sendable>(
        where predicate: Predicate<DTO>,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedQuery(where: predicate, policy).value
    }

    /// Returns the entities on the device that match a predicate, with the freshness of all entities.
    ///
    /// - Throws: ``RepositoryError``, as from ``query(where:_:)``.
    public func fetchedQuery<DTO: Sendable>(
        where predicate: Predicate<DTO>,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        let owner = try await owner()
        for _ in 0..<3 {
            let freshness = try await loader.load(recipe(operations.presence), policy).freshness
            let (found, isOwned) = try await RepositoryError.mapping {
                let found = try await operations.find(predicate)
                let isOwned = try await loader.core.isHeld(operations.home, by: owner)
                return (found, isOwned)
            }
            if isOwned { return Fetched(found, freshness) }
            // Another process has emptied the store for another user: this user takes it back.
            guard try await self.owner() == owner else { break }
        }
        throw RepositoryError(DataSourceError.somebodyElse)
    }
}
