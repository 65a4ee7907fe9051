/// Where a value that is asked for with a way to load it comes from.
///
/// ```swift
/// let menu = try await cache.value(for: id, policy: .staleWhileRevalidate) { try await api.menu(id) }
/// ```
///
/// | policy | fresh | stale | missing | loading fails |
/// |---|---|---|---|---|
/// | ``cacheFirst`` | cached | loads | loads | throws |
/// | ``staleWhileRevalidate`` | cached | cached, loads behind | loads | throws |
/// | ``staleIfError`` | cached | loads | loads | stale value, or throws |
/// | ``loadFirst`` | loads | loads | loads | cached value, or throws |
/// | ``refresh`` | loads | loads | loads | throws |
/// | ``cacheOnly`` | cached | `notCached` | `notCached` | |
public struct CachePolicy: Hashable, Sendable {
    enum Source: Hashable, Sendable { case cache, load, cacheOnly }

    var source: Source
    /// Whether a value that is not fresh may be returned while another is loaded.
    @usableFromInline var revalidates = false
    /// Whether a cached value stands in when loading fails.
    var survivesErrors = false
    var softTimeout: Duration?
    var hardTimeout: Duration?
    var refreshAhead: Double?

    /// The cached value while it is fresh; otherwise it is loaded.
    public static let cacheFirst = CachePolicy(source: .cache)

    /// The cached value while it may be used at all; one that is stale is loaded anew behind.
    ///
    /// RFC 5861, section 3. Needs ``CacheConfiguration/staleness``.
    public static let staleWhileRevalidate = CachePolicy(source: .cache, revalidates: true)

    /// As ``cacheFirst``; when loading fails, a stale value stands in.
    ///
    /// RFC 5861, section 4. Needs ``CacheConfiguration/staleness``.
    public static let staleIfError = CachePolicy(source: .cache, survivesErrors: true)

    /// A loaded value; when loading fails, the cached one.
    public static let loadFirst = CachePolicy(source: .load, survivesErrors: true)

    /// A loaded value and nothing else.
    public static let refresh = CachePolicy(source: .load)

    /// The cached value and nothing else.
    public static let cacheOnly = CachePolicy(source: .cacheOnly)

    /// Lets a stale value stand in when loading takes longer than this; loading goes on behind.
    public func softTimeout(_ limit: Duration) -> CachePolicy {
        var policy = self
        policy.softTimeout = limit
        return policy
    }

    /// Throws `timeout` when loading takes longer than this.
    ///
    /// The caller leaves; loading goes on for others who wait for the same value.
    public func hardTimeout(_ limit: Duration) -> CachePolicy {
        var policy = self
        policy.hardTimeout = limit
        return policy
    }

    /// Loads a fresh value anew behind its use, once this part of its freshness has passed.
    ///
    /// - Parameter part: From 0 to 1, for example 0.8.
    /// - Returns: The policy with it.
    public func refreshingAhead(after part: Double) -> CachePolicy {
        var policy = self
        policy.refreshAhead = min(max(part, 0), 1)
        return policy
    }

    /// Lets a cached value stand in when loading fails.
    public func survivingErrors() -> CachePolicy {
        var policy = self
        policy.survivesErrors = true
        return policy
    }
}
