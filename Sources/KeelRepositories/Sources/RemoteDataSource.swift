public import KeelHTTP

/// A web service, with failures in the words of data sources.
///
/// ```swift
/// let remote = RemoteDataSource(client)
/// let restaurant = try await remote.domain(GetRestaurant(id: "42"))    // a DTO, mapped
/// ```
///
/// It is a value; an app usually wraps it in a type of its own, with one method an operation.
public struct RemoteDataSource: Sendable {
    /// The client that carries the calls out.
    public let client: NetworkClient

    /// Creates a source.
    public init(_ client: NetworkClient) { self.client = client }

    /// Calls an endpoint and returns its response.
    ///
    /// - Throws: ``DataSourceError``.
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

    /// Calls an endpoint and decodes its response as the type named here.
    ///
    /// - Throws: ``DataSourceError``.
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

    /// Calls an endpoint and maps its response to the domain.
    ///
    /// - Throws: ``DataSourceError``, with the code `unmappable` for a response that does not fit.
    public func domain<E: Endpoint>(
        _ endpoint: E
    ) async throws(DataSourceError) -> E.Response.Domain where E.Response: DomainConvertible {
        let dto = try await request(endpoint)
        return try DataSourceError.mapping { try dto.toDomain() }
    }

    /// Calls one endpoint after the other until there is no further page.
    ///
    /// ```swift
    /// let pages = try await remote.pages { GetRestaurantPage(after: $0) } next: { $0.next }
    /// ```
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint of the page that a cursor leads to; nil is the first.
    ///   - next: The cursor of the page after this one; nil in the last.
    /// - Returns: The pages in order.
    /// - Throws: ``DataSourceError``, with the code `unreadable` for pages that lead in a circle.
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
        "The pages of the list lead in a circle.",
        source: .remote
    )
}
