public import KeelCache
import KeelCore
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An HTTP cache (RFC 9111).
///
/// ```swift
/// let cache = HTTPCache(tier: InMemoryCacheTier())
/// configuration.cacheResponses(in: cache)
/// ```
///
/// The cache is private unless ``Configuration/audience`` is shared. It reuses responses as their origin allows,
/// validates stale ones, and invalidates those whose address is changed by a call. `HTTPReply.cacheResult` is the
/// source of a reply, and ``HTTPCachePolicy`` controls a single call.
///
/// A tier that fails, loses entries or is damaged causes misses, counted in ``statistics``, but does not fail calls,
/// except for damage in the middle of a file whose beginning the reader has received: the body then fails with
/// `truncatedBody`.
///
/// Background revalidations (`stale-while-revalidate`) run in tasks of the cache. They end with the origin's response
/// or after ``Configuration/backgroundTimeout``, and are canceled by ``cancelRevalidations()`` and when the cache is
/// deallocated.
public final class HTTPCache: Sendable {
    /// The configuration of the cache.
    public let configuration: Configuration

    let store: ResponseStore
    let revalidations: BackgroundRevalidations
    let flights = SingleFlight<ValidationFlight.Key, ValidationFlight.Outcome>()

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - configuration: The configuration.
    ///   - tier: The tier for the responses, for the exclusive use of this cache.
    ///   - clock: The clock for the age of responses.
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

    // MARK: Inspecting

    /// The counts of the cache since it was created.
    public var statistics: HTTPCacheStatistics { store.counts.current }

    /// Returns the contents of the tier.
    ///
    /// - Throws: `CacheError` of the tier.
    public func usage() async throws(CacheError) -> CacheTierUsage {
        try await store.tier.usage()
    }

    // MARK: Removing

    /// Removes all responses of all users, including those being stored.
    ///
    /// - Throws: `CacheError` of the tier. Even then, this cache no longer uses the stored responses.
    public func removeAll() async throws(CacheError) {
        try await store.removeAll()
    }

    /// Removes the responses of an address, for all users.
    ///
    /// They are no longer used even if the tier fails, which ``statistics`` counts.
    ///
    /// - Parameter url: The address with its query; a URL that is not HTTP is ignored.
    public func remove(_ url: URL) async {
        guard let address = ResourceAddress(url) else { return }
        await store.invalidate([StorageKey.tag(of: address)])
    }

    /// Removes the responses in a group of an origin (RFC 9875), for all users.
    ///
    /// - Parameters:
    ///   - group: The name in the `Cache-Groups` field.
    ///   - origin: The origin of the group.
    public func removeGroup(_ group: String, at origin: HTTPOrigin) async {
        await store.invalidate([StorageKey.tag(of: group, at: origin)])
    }

    // MARK: Sending

    /// Sends a call through the cache without a client, redirects or retries.
    ///
    /// - Returns: The reply; its body is stored while it is read.
    /// - Throws: `TransportError` of the transport, unless a stored response may be served instead.
    public func send(
        _ call: HTTPCall,
        over transport: any HTTPTransport
    ) async throws(TransportError) -> HTTPReply {
        try await HTTPCachingMiddleware(self).intercept(call, next: transport.chain([]))
    }

    // MARK: Background work

    /// The number of background revalidations in progress.
    package var revalidationCount: Int { revalidations.count }

    /// The number of calls that wait for a shared revalidation.
    package var waitingCalls: Int { flights.waiterCount }

    /// Waits until no background revalidation is in progress.
    package func waitForRevalidations() async { await revalidations.wait() }

    /// Cancels the background revalidations; the stored responses remain.
    public func cancelRevalidations() { revalidations.cancelAll() }
}
