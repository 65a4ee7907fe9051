internal import Logging
public import RestaurantsDomain

/// A repository of restaurants that logs every operation.
public struct LoggedRestaurantRepository<Upstream: RestaurantRepository>: RestaurantRepository {
    private let upstream: Upstream
    private let log: RepositoryLog

    /// Creates a logging repository around another.
    public init(_ upstream: Upstream, _ log: RepositoryLog) {
        self.upstream = upstream
        self.log = log
    }

    public func restaurants(_ filter: RestaurantFilter) async throws(DomainError) -> [Restaurant] {
        try await log.run(
            "restaurants.list",
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.restaurants(filter) }
        )
    }

    public func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
        try await log.run("restaurants.find", about: ["id": "\(id)"]) {
            () async throws(DomainError) in try await upstream.restaurant(id)
        }
    }

    public func knownRestaurants(_ ids: [RestaurantID]) async throws(DomainError) -> [Restaurant] {
        try await log.run(
            "restaurants.known",
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.knownRestaurants(ids) }
        )
    }

    public func search(_ words: String, limit: Int) async throws(DomainError) -> [Restaurant] {
        try await log.run(
            "restaurants.search",
            outcome: { ["count": "\($0.count)"] },
            of: { () async throws(DomainError) in try await upstream.search(words, limit: limit) }
        )
    }

    public func refresh() async throws(DomainError) -> RefreshReport {
        try await log.run(
            "restaurants.refresh",
            .info,
            outcome: { report in
                [
                    "added": "\(report.added)", "updated": "\(report.updated)",
                    "removed": "\(report.removed)", "rejected": "\(report.rejections.count)",
                ]
            },
            of: { () async throws(DomainError) in try await upstream.refresh() }
        )
    }

    public func updates() -> LiveUpdates<Restaurant> { upstream.updates() }
}
