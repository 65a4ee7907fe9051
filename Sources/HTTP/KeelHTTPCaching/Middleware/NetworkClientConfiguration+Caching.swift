public import KeelHTTP

extension NetworkClient.Configuration {
    /// Answers calls from a cache if HTTP allows it, and stores responses.
    ///
    /// ```swift
    /// configuration.cacheResponses(in: cache)
    /// ```
    ///
    /// Inserts an ``HTTPCachingMiddleware`` first in `hopMiddleware`. Clients may share a cache.
    ///
    /// - Parameter cache: The cache.
    public mutating func cacheResponses(in cache: HTTPCache) {
        hopMiddleware.insert(HTTPCachingMiddleware(cache), at: 0)
    }
}
