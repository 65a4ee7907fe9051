public import KeelHTTP

/// A web service whose failures are data source errors.
///
/// ```swift
/// let remote = RemoteDataSource(client)
/// let restaurant = try await remote.domain(GetRestaurant(id: "42"))    // a DTO, mapped
/// ```
public struct RemoteDataSource: Sendable {
    /// The client for the requests.
    public let client: NetworkClient

    /// Creates a source.
    public init(_ client: NetworkClient) { self.client = client }

    /// Calls an endpoint and returns its response.
    ///
    /// - Throws: ``DataSourceError``, including for a status outside 200 to 299.
    public func request<E: Endpoint>(
        _ endpoint: E,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(DataSourceError) -> E.Response {
        do throws(NetworkError) {
            return try await client.request(endpoint, options: options)
        } catch {
            throw DataSourceError(error)
        }
    }

    /// Calls an endpoint and decodes its response as the given type.
    ///
    /// - Throws: ``DataSourceError``, including for a status outside 200 to 299.
    public func request<Response: Decodable & Sendable>(
        _ endpoint: some ServiceEndpoint,
        as type: Response.Type,
        options: HTTPCallOptions = HTTPCallOptions()
    ) async throws(DataSourceError) -> Response {
        do throws(NetworkError) {
            return try await client.request(endpoint, as: type, options: options)
        } catch {
            throw DataSourceError(error)
        }
    }

    /// Calls an endpoint and maps its response to a domain value.
    ///
    /// - Throws: ``DataSourceError``, with the code `unmappable` for a response that does not fit.
    public func domain<E: Endpoint>(
        _ endpoint: E
    ) async throws(DataSourceError) -> E.Response.Domain where E.Response: DomainConvertible {
        let dto = try await request(endpoint)
        return try DataSourceError.mapping { try dto.toDomain() }
    }

    /// Calls endpoints in succession until the last page.
    ///
    /// ```swift
    /// let pages = try await remote.pages { GetRestaurantPage(after: $0) } next: { $0.next }
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: Returns the endpoint for the page at a cursor; nil for the first page.
    ///   - next: Returns the cursor of the next page; nil for the last.
    /// - Returns: The pages in order.
    /// - Throws: ``DataSourceError``, with the code `unreadable` for circular pages.
    public func pages<E: Endpoint, Cursor: Hashable>(
        _ endpoint: (Cursor?) -> E,
        next: (E.Response) -> Cursor?
    ) async throws(DataSourceError) -> [E.Response] {
        var pages: [E.Response] = []
        var seen: Set<Cursor> = []
        var cursor: Cursor?
        repeat {
            let page = try await request(endpoint(cursor))
            cursor = next(page)
            pages.append(page)
            if let cursor, !seen.insert(cursor).inserted { throw .circularPages }
        } while cursor != nil
        return pages
    }
}

extension DataSourceError {
    static let circularPages = DataSourceError(
        .unreadable,
        "The pages of the list form a cycle.",
        source: .remote
    )
}
