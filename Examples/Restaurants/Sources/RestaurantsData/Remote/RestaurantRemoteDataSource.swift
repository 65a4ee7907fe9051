internal import KeelHTTP

/// The restaurant service.
struct RestaurantRemoteDataSource: Sendable {
    /// How many restaurants are asked for at once.
    static let pageSize = 500

    let client: NetworkClient

    /// Returns all restaurants, page after page.
    func restaurants() async throws(DataSourceError) -> [RestaurantEntryDTO] {
        var entries: [RestaurantEntryDTO] = []
        var seen: Set<String> = []
        var last: String?
        repeat {
            let page = try await request(GetRestaurantPage(after: last, limit: Self.pageSize))
            entries += page.restaurants
            last = page.next
            if let next = page.next, !seen.insert(next).inserted {
                throw .remote(
                    NetworkError(.invalidResponse, "The pages of the list lead in a circle.")
                )
            }
        } while last != nil
        return entries
    }

    /// Returns one restaurant.
    func restaurant(_ id: String) async throws(DataSourceError) -> RestaurantDTO {
        try await request(GetRestaurant(id: id))
    }

    /// Returns restaurants that have all the words.
    func search(_ words: String, limit: Int) async throws(DataSourceError) -> [RestaurantEntryDTO] {
        try await request(GetSearchResult(words: words, limit: limit)).restaurants
    }

    private func request<E: Endpoint>(_ endpoint: E) async throws(DataSourceError) -> E.Response {
        try await DataSourceError.remote { () async throws(NetworkError) in
            try await client.request(endpoint)
        }
    }
}

extension DataSourceError {
    /// Runs an operation of the service.
    static func remote<Value>(
        _ operation: () async throws(NetworkError) -> Value
    ) async throws(DataSourceError) -> Value {
        do throws(NetworkError) {
            return try await operation()
        } catch {
            throw .remote(error)
        }
    }

    /// Runs an operation of the session.
    static func session<Value>(
        _ operation: () async throws(AuthenticationError) -> Value
    ) async throws(DataSourceError) -> Value {
        do throws(AuthenticationError) {
            return try await operation()
        } catch {
            throw .session(error)
        }
    }
}
