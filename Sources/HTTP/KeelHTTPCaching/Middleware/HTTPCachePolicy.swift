public import KeelHTTP

/// The use of the cache by a single call.
///
/// ```swift
/// var options = HTTPCallOptions()
/// options.cachePolicy = .cacheElseNetwork
/// let menu = try await client.request(GetMenu(), options: options)
/// ```
///
/// The fields of the request (`Cache-Control: max-age=60`) count as well. No policy serves a stale response that says
/// `must-revalidate`, or any that says `no-cache`, without validation.
public struct HTTPCachePolicy: Hashable, Sendable {
    enum Reads: Hashable, Sendable {
        case fresh
        /// Responses just confirmed by the origin.
        case validated
        /// Any stored response, and otherwise the origin's.
        case anyAge
        /// Any stored response, and nothing else.
        case onlyStored
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

    /// Follows HTTP: serves stored responses while fresh, and then validates them.
    public static let standard = HTTPCachePolicy()

    /// Asks the origin whether the stored response is still valid, as for pull to refresh.
    ///
    /// A fresh response that says `immutable` is served without asking (RFC 8246).
    public static let revalidate = HTTPCachePolicy(reads: .validated)

    /// Fetches the response from the origin and stores it.
    public static let reload = HTTPCachePolicy(reads: .nothing)

    /// Neither reads from the cache nor stores in it.
    public static let bypass = HTTPCachePolicy(reads: .nothing, stores: false)

    /// Serves a stored response of any age, and asks the origin only if no response is stored.
    public static let cacheElseNetwork = HTTPCachePolicy(reads: .anyAge)

    /// Serves a stored response of any age, and never asks the origin.
    ///
    /// If no usable response is stored, the reply has status 504 and ``HTTPCacheResult/missing``.
    public static let cacheOnly = HTTPCachePolicy(reads: .onlyStored)

    /// Like ``standard``, but serves a stored response of any age if the origin is unreachable.
    public static let staleWhenOffline = HTTPCachePolicy(offline: .allowed)

    /// Like ``standard``, but fails if the origin is unreachable or answers with an error, whatever the configuration
    /// and `stale-if-error` allow.
    public static let failWhenOffline = HTTPCachePolicy(offline: .forbidden)

    /// Asks the origin, and fails if it does.
    static let freshOrError = HTTPCachePolicy(reads: .validated, offline: .forbidden)
}

private enum CachePolicyKey: HTTPCallOptionKey {
    static var defaultValue: HTTPCachePolicy { .standard }
}

extension HTTPCallOptions {
    /// The call's use of the cache.
    public var cachePolicy: HTTPCachePolicy {
        get { self[CachePolicyKey.self] }
        set { self[CachePolicyKey.self] = newValue }
    }
}
