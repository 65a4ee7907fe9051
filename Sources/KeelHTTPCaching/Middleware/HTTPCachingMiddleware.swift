import HTTPTypes
public import KeelHTTP

/// A layer that answers calls from an ``HTTPCache`` where HTTP allows it, and stores what passes.
///
/// ```swift
/// configuration.hopMiddleware = [HTTPCachingMiddleware(cache)]
/// ```
///
/// Its place is `hopMiddleware`: below redirects, so that each address has its own entry, and above
/// repetitions, so that a stale response stands in only after the last attempt has failed. A
/// `CoalescingMiddleware`, if you want one, goes above it into `middleware` or right below it. Layers
/// that add credentials or cookies stand further down; ``HTTPCachePartition`` says how users are kept
/// apart all the same.
///
/// A response that depends (`Vary`) on a field that a layer further down adds or changes is not
/// stored: the cache could not tell which later call it is for. Put a layer that adds an account or a
/// language above the cache, into `middleware`.
///
/// - A body goes to the caller while it is stored. One that ends early, is abandoned or is larger
///   than the limits is not stored.
/// - Calls of one stale response that are made at the same time share its revalidation, as long as
///   their responses are read into memory.
/// - Nothing is decided here: the rules are pure functions of the request, what is stored and the
///   time.
public struct HTTPCachingMiddleware: HTTPMiddleware {
    /// The cache.
    public let cache: HTTPCache

    /// Creates the layer.
    public init(_ cache: HTTPCache) { self.cache = cache }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let exchange = await CacheExchange(call, next, cache) else {
            cache.store.counts.add(\.bypasses)
            return try await passed(call, next)
        }
        switch call.head.method {
        case .get, .head:
            return try await exchange.answer(cache)
        default:
            cache.store.counts.add(\.bypasses)
            return try await exchange.change(cache)
        }
    }

    /// Passes on a call that the cache takes no part in.
    private func passed(
        _ call: HTTPCall,
        _ next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        let reply: HTTPReply
        do throws(TransportError) {
            reply = try await next(call)
        } catch {
            await cache.invalidateAfter(call.head, error)
            throw error
        }
        await cache.invalidateAfter(call.head, reply.head)
        return reply.passed(.bypass, by: cache.configuration.name)
    }
}

extension HTTPCache {
    /// Makes worthless what a call may have changed whose outcome nobody knows.
    func invalidateAfter(_ request: HTTPRequest, _ error: TransportError) async {
        guard error.processed != .no, !Invalidation.safeMethods.contains(request.method.rawValue),
            let address = ResourceAddress(request)
        else { return }
        await store.invalidate([StorageKey.tag(of: address)])
    }

    /// Makes worthless what a call has changed.
    func invalidateAfter(_ request: HTTPRequest, _ response: HTTPResponse) async {
        let addresses = Invalidation.addresses(of: request, response)
        guard let origin = HTTPOrigin(request) else { return }
        let groups = CacheGroups.invalidated(by: request, response)
        await store.invalidate(
            addresses.map(StorageKey.tag).sorted()
                + Set(groups).map { StorageKey.tag(of: $0, at: origin) }
        )
    }
}

extension HTTPReply {
    /// Returns the reply of an origin with what this cache did.
    func passed(_ forward: CacheStatus.Forward, by name: String?, isStored: Bool = false) -> Self {
        var status = CacheStatus(forward: forward)
        status.isStored = isStored
        return adding(status, by: name).noting(.network)
    }

    /// Appends a member to the `Cache-Status` field.
    func adding(_ status: CacheStatus, by name: String?) -> Self {
        guard let name else { return self }
        var reply = self
        reply.head.headerFields.append(HTTPField(name: .cacheStatus, value: status.text(name)))
        return reply
    }
}
