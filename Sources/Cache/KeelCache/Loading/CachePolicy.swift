/// The choice between the cache and the loader for a requested value.
///
/// ```swift
/// let menu = try await cache.value(for: id, policy: .staleWhileRevalidate) { try await api.menu(id) }
/// ```
///
/// | policy | fresh | stale | missing | loading fails |
/// |---|---|---|---|---|
/// | ``cacheFirst`` | cached | loads | loads | throws |
/// | ``staleWhileRevalidate`` | cached | cached, loads in the background | loads | throws |
/// | ``staleIfError`` | cached | loads | loads | stale value, or throws |
/// | ``loadFirst`` | loads | loads | loads | cached value, or throws |
/// | ``refresh`` | loads | loads | loads | throws |
/// | ``cacheOnly`` | cached | `notCached` | `notCached` | |
public struct CachePolicy: Hashable, Sendable {
    enum Source: Hashable, Sendable { case cache, load, cacheOnly }

    var source: Source
    @usableFromInline var revalidates = false
    var servesStaleOnError = false
    var softTimeout: Duration?
    var hardTimeout: Duration?
    var refreshAhead: Double?

    /// Returns the cached value while it is fresh, and loads otherwise.
    public static let cacheFirst = CachePolicy(source: .cache)

    /// Returns the cached value even if stale, and then reloads it in the background.
    ///
    /// RFC 5861, section 3. Needs ``CacheConfiguration/staleness``.
    public static let staleWhileRevalidate = CachePolicy(source: .cache, revalidates: true)

    /// Like ``cacheFirst``, but serves a stale value if loading fails.
    ///
    /// RFC 5861, section 4. Needs ``CacheConfiguration/staleness``.
    public static let staleIfError = CachePolicy(source: .cache, servesStaleOnError: true)

    /// Loads, and serves the cached value if loading fails.
    public static let loadFirst = CachePolicy(source: .load, servesStaleOnError: true)

    /// Always loads.
    public static let refresh = CachePolicy(source: .load)

    /// Never loads.
    public static let cacheOnly = CachePolicy(source: .cacheOnly)

    /// Serves the cached value, even if stale, if loading takes longer; the load continues in the background.
    ///
    /// Without a cached value, the timeout has no effect.
    public func softTimeout(_ limit: Duration) -> CachePolicy {
        var policy = self
        policy.softTimeout = limit
        return policy
    }

    /// Throws `timeout` if loading takes longer, unless the policy serves a cached value instead.
    ///
    /// The load continues for other callers that wait for the same value. A load in the background ends at the limit,
    /// and the next read of a stale value starts another load. After a soft timeout, the limit starts again.
    public func hardTimeout(_ limit: Duration) -> CachePolicy {
        var policy = self
        policy.hardTimeout = limit
        return policy
    }

    /// Reloads a fresh value in the background when it is used after a fraction of its freshness.
    ///
    /// As ``CacheConfiguration/policy``, it refreshes all values that expire. As the policy of a call, it refreshes
    /// values loaded by such calls, and values with staleness, tags or a time to idle.
    ///
    /// - Parameter part: The fraction, from 0 to 1, for example 0.8.
    /// - Returns: The changed policy.
    public func refreshingAhead(after part: Double) -> CachePolicy {
        var policy = self
        policy.refreshAhead = min(max(part, 0), 1)
        return policy
    }

    /// Serves a cached value, even if stale, if loading fails.
    public func servingStaleOnError() -> CachePolicy {
        var policy = self
        policy.servesStaleOnError = true
        return policy
    }
}
