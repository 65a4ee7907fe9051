public import KeelHTTP

extension NetworkClient.Configuration {
    /// Answers calls from a cache where HTTP allows it, and stores what passes.
    ///
    /// ```swift
    /// configuration.cacheResponses(in: cache)
    /// ```
    ///
    /// It puts an ``HTTPCachingMiddleware`` before the layers of `hopMiddleware`. Clients may share
    /// a cache.
    ///
    /// - Parameter cache: Where responses are kept.
    public mutating func cacheResponses(in cache: HTTPCache) {
        hopMiddleware.insert(HTTPCachingMiddleware(cache), at: 0)
    }
}
