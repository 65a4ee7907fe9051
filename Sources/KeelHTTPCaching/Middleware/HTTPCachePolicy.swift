public import KeelHTTP

/// What one call wants of the cache.
///
/// ```swift
/// var options = HTTPCallOptions()
/// options.cachePolicy = .cacheElseNetwork
/// let menu = try await client.request(GetMenu(), options: options)
/// ```
///
/// The fields of the request (`Cache-Control: max-age=60`) count as well. No policy makes the cache
/// use a response past its freshness that says `no-cache` or `must-revalidate`.
public struct HTTPCachePolicy: Hashable, Sendable {
    enum Reads: Hashable, Sendable {
        /// What is fresh.
        case fresh
        /// What the origin has just said is good.
        case validated
        /// Whatever is stored, and the origin where nothing is.
        case anyAge
        /// Whatever is stored, and nothing else.
        case onlyStored
        /// Nothing.
        case nothing
    }

    enum OfflineRule: Hashable, Sendable {
        case asConfigured
        case allowed
        case forbidden
    }

    var reads = Reads.fresh
    var stores = true
    var offline = OfflineRule.asConfigured

    /// What HTTP says: stored responses as long as they are fresh, then validation.
    public static let standard = HTTPCachePolicy()

    /// Asks the origin whether the stored response is still good: for pulling to refresh.
    ///
    /// A fresh response that says `immutable` is used without asking (RFC 8246).
    public static let revalidate = HTTPCachePolicy(reads: .validated)

    /// Fetches the response anew and stores it.
    public static let reload = HTTPCachePolicy(reads: .nothing)

    /// Takes no part: nothing is read from the cache and nothing stored.
    public static let bypass = HTTPCachePolicy(reads: .nothing, stores: false)

    /// Uses what is stored, whatever its age, and asks the origin only where nothing is.
    public static let cacheElseNetwork = HTTPCachePolicy(reads: .anyAge)

    /// Uses what is stored, whatever its age, and never asks the origin.
    ///
    /// Where nothing is stored, the reply has status 504 and ``HTTPCacheResult/missing``.
    public static let cacheOnly = HTTPCachePolicy(reads: .onlyStored)

    /// Like ``standard``, and where the origin cannot be reached, uses what is stored, whatever its
    /// age.
    public static let staleWhenOffline = HTTPCachePolicy(offline: .allowed)

    /// Like ``standard``, and where the origin cannot be reached, the call fails, whatever the cache
    /// is configured to do.
    public static let failWhenOffline = HTTPCachePolicy(offline: .forbidden)

    /// Asks the origin, and fails where it cannot be reached.
    static let freshOrError = HTTPCachePolicy(reads: .validated, offline: .forbidden)
}

private enum CachePolicyKey: HTTPCallOptionKey {
    static var defaultValue: HTTPCachePolicy { .standard }
}

extension HTTPCallOptions {
    /// What the call wants of the cache.
    public var cachePolicy: HTTPCachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }
}
