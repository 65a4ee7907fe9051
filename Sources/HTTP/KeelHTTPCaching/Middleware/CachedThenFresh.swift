public import KeelHTTP

/// The stored response of an endpoint, followed by the origin's.
///
/// ```swift
/// for try await menu in client.cachedThenFresh(GetMenu()) {
///     show(menu.value, isOld: menu.source != .network)
/// }
/// ```
/// - The stored response comes first, whatever its age, unless it must be validated before each use. If it is fresh,
///   nothing follows, except with ``Refresh/always``.
/// - Otherwise the origin's response follows, even if it only confirms the stored one.
/// - A failure of the origin is thrown after the stored response, which does not hide it.
/// - If nothing is stored, or nothing that can be decoded, the origin's response is the only element.
///
/// The client needs an ``HTTPCachingMiddleware``. All work happens in the task that reads; the sequence can be read
/// several times.
public struct CachedThenFresh<Response: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Failure = NetworkError

    /// A response and its source.
    public struct Element: Sendable {
        /// The decoded response.
        public let value: Response
        /// The source of the response; nil for a client without a cache.
        public let source: HTTPCacheResult?
    }

    /// The condition for asking the origin although a response is stored.
    public enum Refresh: Hashable, Sendable {
        /// If the stored response is not fresh.
        case whenStale
        /// Always.
        case always
    }

    let request: PreparedRequest<Response>
    let refresh: Refresh

    public func makeAsyncIterator() -> Iterator { Iterator(request: request, refresh: refresh) }

    /// An iterator over the responses.
    public struct Iterator: AsyncIteratorProtocol, Sendable {
        private enum Step: Sendable { case stored, origin, end }

        private let request: PreparedRequest<Response>
        private let refresh: Refresh
        private var step = Step.stored

        init(request: PreparedRequest<Response>, refresh: Refresh) {
            self.request = request
            self.refresh = refresh
        }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(NetworkError) -> Element? {
            if step == .stored {
                step = .origin
                var policy = HTTPCachePolicy.standard
                do throws(NetworkError) {
                    let stored = try await answer(.cacheOnly)
                    let isOrigins = stored.source?.isFromCache != true
                    if isOrigins || (stored.source == .fresh && refresh == .whenStale) {
                        step = .end
                    }
                    return stored
                } catch {
                    // An error that does not come from the cache is the answer.
                    guard error.response?.cacheResult != nil else {
                        step = .end
                        throw error
                    }
                    // A fresh response that cannot be decoded would be served again.
                    if error.code == .decoding { policy = .reload }
                }
                return try await origin(policy)
            }
            guard step == .origin else { return nil }
            return try await origin(.freshOrError)
        }

        private mutating func origin(
            _ policy: HTTPCachePolicy
        ) async throws(NetworkError) -> Element {
            step = .end
            return try await answer(policy)
        }

        private func answer(_ policy: HTTPCachePolicy) async throws(NetworkError) -> Element {
            let (value, response) = try await request.send { $0.cachePolicy = policy }
            return Element(value: value, source: response.cacheResult)
        }
    }
}

extension NetworkClient {
    /// Returns a sequence of the stored response of an endpoint and the origin's.
    ///
    /// - Parameters:
    ///   - endpoint: The operation, which must use `GET`.
    ///   - refresh: The condition for asking the origin although a response is stored.
    ///   - timeout: The total time for each call; nil uses the endpoint's or the client's.
    ///   - options: The options of the calls; the sequence sets their cache policy.
    /// - Returns: One or two responses, fetched while they are read.
    public func cachedThenFresh<E: Endpoint>(
        _ endpoint: E,
        refresh: CachedThenFresh<E.Response>.Refresh = .whenStale,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) -> CachedThenFresh<E.Response> {
        CachedThenFresh(
            request: prepared(endpoint, timeout: timeout, options: options),
            refresh: refresh
        )
    }
}

extension ServiceClient {
    /// Returns a sequence of the stored response of an operation and the origin's.
    ///
    /// - Parameters:
    ///   - endpoint: The operation, which must use `GET`.
    ///   - type: The type of the responses.
    ///   - refresh: The condition for asking the origin although a response is stored.
    ///   - timeout: The total time for each call; nil uses the endpoint's or the client's.
    ///   - options: The options of the calls; the sequence sets their cache policy.
    /// - Returns: One or two responses, fetched while they are read.
    public func cachedThenFresh<Response: Decodable & Sendable>(
        _ endpoint: Service,
        as type: Response.Type,
        refresh: CachedThenFresh<Response>.Refresh = .whenStale,
        timeout: Duration? = nil,
        options: HTTPCallOptions = HTTPCallOptions()
    ) -> CachedThenFresh<Response> {
        CachedThenFresh(
            request: prepared(endpoint, as: type, timeout: timeout, options: options),
            refresh: refresh
        )
    }
}
