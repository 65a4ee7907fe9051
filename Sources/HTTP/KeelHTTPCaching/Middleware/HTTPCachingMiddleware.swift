internal import HTTPTypes
public import KeelHTTP

/// A middleware that answers calls from an ``HTTPCache`` if HTTP allows it, and stores responses.
///
/// ```swift
/// configuration.hopMiddleware = [HTTPCachingMiddleware(cache)]
/// ```
///
/// It belongs in `hopMiddleware`: below redirects, so that each address has its own entry, and above retries, so that a
/// stale response is served only after the last attempt. Place a `CoalescingMiddleware` above it, in `middleware`, or
/// directly below it.
///
/// Layers that add credentials or cookies are further down; ``HTTPCachePartition`` still separates users. A response
/// that varies (`Vary`) by a field that another lower layer adds or changes is not stored: place a layer that adds an
/// account or a language above the cache, in `middleware`.
///
/// - A body reaches the caller while it is stored; an incomplete or oversized body is not kept.
/// - Concurrent calls for one stale response share its revalidation if they collect the body. A call after a change
///   through this cache does not share a revalidation that began before the end of the change.
public struct HTTPCachingMiddleware: HTTPMiddleware {
    /// The cache.
    public let cache: HTTPCache

    /// Creates the middleware.
    public init(_ cache: HTTPCache) { self.cache = cache }

    public func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        guard let exchange = await CacheExchange(call, next, cache) else {
            guard !Self.excludesOrigin(call) else {
                cache.store.counts.add(\.onlyIfCachedMisses)
                return .notStored(by: cache.configuration.name)
            }
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

    private static func excludesOrigin(_ call: HTTPCall) -> Bool {
        guard call.head.method == .get || call.head.method == .head else { return false }
        return call.options.cachePolicy.reads == .onlyStored
            || RequestDirectives(call.head.headerFields).onlyIfCached
    }

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
    /// Invalidates what a call with an unknown outcome may have changed.
    func invalidateAfter(_ request: HTTPRequest, _ error: TransportError) async {
        guard error.processed != .no, !Invalidation.safeMethods.contains(request.method.rawValue),
            let address = ResourceAddress(request)
        else { return }
        await store.invalidate([StorageKey.tag(of: address)])
    }

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
    /// Returns the answer to `only-if-cached` if no usable response is stored (RFC 9111 section 5.2.1.7).
    static func notStored(by name: String?) -> HTTPReply {
        var status = CacheStatus()
        status.detail = "not-stored"
        let head = HTTPResponse(status: .gatewayTimeout, headerFields: [.contentLength: "0"])
        return HTTPReply(head: head).adding(status, by: name).noting(.missing)
    }

    func passed(_ forward: CacheStatus.Forward, by name: String?, isStored: Bool = false) -> Self {
        var status = CacheStatus(forward: forward)
        status.isStored = isStored
        return adding(status, by: name).noting(.network)
    }

    consuming func adding(_ status: CacheStatus, by name: String?) -> Self {
        head.add(status, by: name)
        return self
    }
}

extension HTTPResponse {
    /// Adds a member to the `Cache-Status` field; a cache without a name adds none.
    mutating func add(_ status: CacheStatus, by name: String?) {
        guard let name else { return }
        headerFields.append(HTTPField(name: .cacheStatus, value: status.text(name)))
    }
}

extension NetworkClient.Configuration {
    /// Answers calls from a cache if HTTP allows it, and stores responses.
    ///
    /// This inserts an ``HTTPCachingMiddleware`` first in `hopMiddleware`. Clients can share a cache.
    public mutating func cacheResponses(in cache: HTTPCache) {
        hopMiddleware.insert(HTTPCachingMiddleware(cache), at: 0)
    }
}
