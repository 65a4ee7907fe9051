internal import Foundation
internal import KeelStorage
internal import RestaurantsDomain

/// The restaurants on this device.
struct RestaurantLocalDataSource: Sendable {
    private let storage: StorageClient
    private let restaurants: DocumentCollection<StoredRestaurant>
    private let refreshes: DocumentCollection<StoredRefresh>

    init(storage: StorageClient) {
        self.storage = storage
        restaurants = storage.collection("restaurants", as: StoredRestaurant.self)
        refreshes = storage.collection("refreshes", as: StoredRefresh.self)
    }

    // MARK: Reading

    func restaurants(
        _ filter: RestaurantFilter = RestaurantFilter()
    ) async throws(DataSourceError) -> [StoredRestaurant] {
        try await DataSourceError.local { () async throws(StorageError) in
            try await restaurants.query { query in
                var query = query.order(by: "listingKey")
                if let borough = filter.borough {
                    query = query.where(.equal("borough", .string(borough)))
                }
                if let cuisine = filter.cuisine {
                    query = query.where(.equal("cuisine", .string(cuisine)))
                }
                if let limit = filter.limit { query = query.limit(to: limit) }
                return query
            }
        }
    }

    /// Those of the restaurants that are here.
    func restaurants(_ ids: [RestaurantID]) async throws(DataSourceError) -> [StoredRestaurant] {
        try await DataSourceError.local { () async throws(StorageError) in
            try await restaurants.find(ids.map(\.text)).compactMap { $0 }
        }
    }

    func search(_ words: String, limit: Int) async throws(DataSourceError) -> [StoredRestaurant] {
        try await DataSourceError.local { () async throws(StorageError) in
            try await restaurants.query {
                $0.matching(words).order(by: "listingKey").limit(to: limit)
            }
        }
    }

    func updates() -> LiveUpdates<Restaurant> {
        restaurants.updates { stored throws(MappingFailure) in try Restaurant(stored) }
    }

    // MARK: Writing

    /// Keeps restaurants in place of what was kept of them before.
    func save(_ changed: [StoredRestaurant]) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            _ = try await restaurants.saveAll(changed)
        }
    }

    func remove(_ ids: [String]) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            var rest = ids[...]
            while !rest.isEmpty {
                // As many writes as one batch takes.
                let writes = rest.prefix(500).map { DocumentWrite.delete("restaurants/\($0)") }
                try await storage.commit(writes)
                rest = rest.dropFirst(writes.count)
            }
        }
    }

    // MARK: When the restaurants were loaded

    /// When all restaurants were loaded last; nil if they never were.
    func lastRefresh() async throws(DataSourceError) -> Date? {
        try await DataSourceError.local { () async throws(StorageError) in
            try await refreshes.find("restaurants")?.date
        }
    }

    func noteRefresh(at date: Date) async throws(DataSourceError) {
        try await DataSourceError.local { () async throws(StorageError) in
            _ = try await refreshes.save(StoredRefresh(date: date), id: "restaurants")
        }
    }
}

/// When something was loaded from its source: `refreshes/{what}`.
private struct StoredRefresh: Codable, Sendable {
    var date: Date
}
