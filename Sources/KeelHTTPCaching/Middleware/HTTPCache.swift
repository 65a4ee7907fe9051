public import KeelCache
import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Stored responses of HTTP, and the rules for using them again (RFC 9111).
///
/// ```swift
/// let cache = HTTPCache(tier: InMemoryCacheTier())
/// configuration.cacheResponses(in: cache)
/// ```
///
/// It is a private cache unless ``Configuration/audience`` says otherwise. Responses are used again
/// as their origin allows, validated when they are stale, and made worthless by calls that change
/// their address. `HTTPReply.cacheResult` says where a reply came from, and
/// ``HTTPCachePolicy`` what a call wants.
///
/// The tier may fail, forget or be damaged: that counts as a miss, shows in ``statistics``, and
/// does not fail a call. There is one exception: damage in the middle of a file, found when its
/// beginning is already with the reader of a stream, ends that body with `truncatedBody`.
///
/// Revalidation in the background (`stale-while-revalidate`) runs in tasks that belong to the
/// cache: they end when the origin has answered, and are cancelled when the last user of the cache
/// lets it go, or with ``cancelRevalidations()``.
public final class HTTPCache: Sendable {
    /// How the cache behaves.
    public let configuration: Configuration

    let store: ResponseStore
    let revalidations: BackgroundRevalidations
    let flights = SingleFlight<ValidationFlight.Key, ValidationFlight.Outcome>()

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - configuration: How it behaves.
    ///   - tier: Where it keeps responses; nobody else may write there.
    ///   - clock: The time that responses age by.
    public init(
        _ configuration: Configuration = Configuration(),
        tier: any CacheTier,
        clock: CacheClock = .system
    ) {
        self.configuration = configuration
        store = ResponseStore(configuration, tier: tier, clock: clock)
        revalidations = BackgroundRevalidations(
            limit: configuration.backgroundLimit,
            timeout: configuration.backgroundTimeout,
            clock: clock
        )
    }

    deinit { revalidations.cancelAll() }

    // MARK: Looking

    /// What the cache has done since it was made.
    public var statistics: HTTPCacheStatistics { store.counts.current }

    /// What the tier holds.
    ///
    /// - Throws: `CacheError` of the tier.
    public func usage() async throws(CacheError) -> CacheTierUsage {
        try await store.tier.usage()
    }

    // MARK: Removing

    /// Removes all responses of all users; those that are on their way are not stored either.
    ///
    /// - Throws: `CacheError` of the tier. Even then, what was stored is not used any more by this
    ///   cache.
    public func removeAll() async throws(CacheError) {
        try await store.removeAll()
    }

    /// Removes the responses of an address, of all users.
    ///
    /// They are not used any more even where the tier fails; that shows in ``statistics``.
    ///
    /// - Parameter url: The address, with its query; a URL that is not of HTTP does nothing.
    public func remove(_ url: URL) async {
        guard let address = ResourceAddress(url) else { return }
        await store.invalidate([StorageKey.tag(of: address)])
    }

    /// Removes the responses that an origin put in a group (RFC 9875), of all users.
    ///
    /// - Parameters:
    ///   - group: The name in the `Cache-Groups` field.
    ///   - origin: Whose group it is.
    public func removeGroup(_ group: String, at origin: HTTPOrigin) async {
        await store.invalidate([StorageKey.tag(of: group, at: origin)])
    }

    // MARK: Sending

    /// Sends a call through the cache, without a client: what a proxy or a test needs.
    ///
    /// Redirects are not followed and nothing is repeated.
    ///
    /// - Parameters:
    ///   - call: The request.
    ///   - transport: What carries it to the origin.
    /// - Returns: The reply; its body is stored while it is read.
    /// - Throws: `TransportError` of the transport, unless a stored response may stand in.
    public func send(
        _ call: HTTPCall,
        over transport: any HTTPTransport
    ) async throws(TransportError) -> HTTPReply {
        try await HTTPCachingMiddleware(self).intercept(call, next: transport.chain([]))
    }

    // MARK: Background work

    /// How many revalidations run in the background.
    public var revalidationCount: Int { revalidations.count }

    /// How many calls wait for a revalidation that they share.
    package var waitingCalls: Int { flights.waiterCount }

    /// Waits until no revalidation runs in the background.
    public func waitForRevalidations() async { await revalidations.wait() }

    /// Cancels the revalidations in the background; what they were to renew stays as it is.
    public func cancelRevalidations() { revalidations.cancelAll() }
}
