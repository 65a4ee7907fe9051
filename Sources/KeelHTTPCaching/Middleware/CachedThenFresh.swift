public import KeelHTTP

/// The stored answer of an endpoint, and then the origin's.
///
/// ```swift
/// for try await menu in client.cachedThenFresh(GetMenu()) {
///     show(menu.value, isOld: menu.source != .network)
/// }
/// ```
///
/// - What is stored comes first, whatever its age. If it is fresh, nothing follows.
/// - Otherwise the origin's answer follows, also where it only says that nothing has changed.
/// - A failure of the origin is thrown after the stored answer was given; it is not hidden behind
///   the same stored answer.
/// - Where nothing is stored, the origin's answer is the only one.
///
/// The client needs an ``HTTPCachingMiddleware``. Everything happens in the task that reads; the
/// sequence can be read several times.
public struct CachedThenFresh<Response: Decodable & Sendable>: AsyncSequence, Sendable {
    public typealias Failure = NetworkError

    /// An answer with where it came from.
    public struct Element: Sendable {
        /// The decoded answer.
        public let value: Response
        /// Where it came from; nil for a client without a cache.
        public let source: HTTPCacheResult?
    }

    /// When the origin is asked although something is stored.
    public enum Refresh: Hashable, Sendable {
        /// Where what is stored is not fresh.
        case whenStale
        /// In any case.
        case always
    }

    let request: PreparedRequest<Response>
    let refresh: Refresh

    public func makeAsyncIterator() -> Iterator { Iterator(request: request, refresh: refresh) }

    /// Reads the answers one by one.
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
                if let stored = try await stored() {
                    if stored.source == .fresh, refresh == .whenStale { step = .end }
                    return stored
                }
                return try await origin(.standard)
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

        private func stored() async throws(NetworkError) -> Element? {
            do throws(NetworkError) {
                let answer = try await answer(.cacheOnly)
                return answer.source?.isFromCache == true ? answer : nil
            } catch {
                // Nothing is stored, or nothing that is an answer: the origin's word counts.
                if Task.isCancelled { throw error }
                return nil
            }
        }

        private func answer(_ policy: HTTPCachePolicy) async throws(NetworkError) -> Element {
            let (value, response) = try await request.send { $0.cachePolicy = policy }
            return Element(value: value, source: response.cacheResult)
        }
    }
}

extension NetworkClient {
    /// Gives the stored answer of an endpoint first, and then the origin's.
    ///
    /// - Parameters:
    ///   - endpoint: The operation, one with `GET`.
    ///   - refresh: When the origin is asked although something is stored.
    ///   - timeout: The total time for each call; nil uses the endpoint's or the client's.
    ///   - options: What the calls ask of the layers; their cache policy is the sequence's own.
    /// - Returns: One or two answers, fetched while they are read.
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
    /// Gives the stored answer of an operation first, and then the origin's.
    ///
    /// - Parameters:
    ///   - endpoint: The operation, one with `GET`.
    ///   - type: The type of the answers.
    ///   - refresh: When the origin is asked although something is stored.
    ///   - timeout: The total time for each call; nil uses the endpoint's or the client's.
    ///   - options: What the calls ask of the layers; their cache policy is the sequence's own.
    /// - Returns: One or two answers, fetched while they are read.
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
