public import HTTPTypes

extension HTTPCache {
    /// The configuration of a cache.
    public struct Configuration: Sendable {
        /// The users of a cache.
        public enum Audience: Hashable, Sendable {
            /// A private cache, as in an app: for one user, or several separated by ``Configuration/partition``.
            case privateCache
            /// A shared cache for all users, as in a proxy. Responses for a single user are not stored (RFC 9111
            /// section 3.5 and `private`), `s-maxage` applies, and users are not separated.
            case sharedCache
        }

        /// Who uses the cache.
        public var audience = Audience.privateCache

        /// The rule that separates users; a shared cache ignores it.
        public var partition = HTTPCachePartition.byCredentials

        /// The time for which a stale response may be served while the origin is unreachable; nil, the default, serves
        /// none.
        ///
        /// A call can then return old data as an ordinary result, marked ``HTTPCacheResult/stale(_:)``, as RFC 9111
        /// section 4.2.4 permits. To opt in for a single call, use ``HTTPCachePolicy/staleWhenOffline``.
        /// `must-revalidate` and `no-cache` are always obeyed; `stale-if-error` may allow more time, but not less.
        public var offlineStaleness: Duration?

        /// The time for which a stale response may be served while the origin is unreachable or answers 500, 502, 503
        /// or 504; nil, the default, serves none.
        ///
        /// It acts as the `stale-if-error` (RFC 5861 section 4) of responses that do not state one, as for a proxy that
        /// hides the failures of your own origin. A directive of the request or the response takes precedence, and
        /// `must-revalidate` and `no-cache` are always obeyed.
        public var errorStaleness: Duration?

        /// Whether a shared cache serves stored responses with their cookies.
        ///
        /// By default it removes the cookies, so that one user's session cookie is never sent to another: RFC 9111
        /// section 7.3 relies on origins to keep such responses out of shared caches, and not all do. A private cache
        /// always keeps them.
        public var servesStoredCookies = false

        /// The fraction of the time since a response's last modification for which it is fresh, if it states no
        /// lifetime (RFC 9111 section 4.2.2), from 0, never, to 1.
        public var heuristicFraction = 0.1

        /// The maximum heuristic lifetime.
        public var heuristicLimit: Duration = .seconds(86_400)

        /// Fields that replace `Cache-Control` and `Expires`, such as `CDN-Cache-Control`; the first one present and
        /// valid is used (RFC 9213).
        public var targetedFields: [HTTPField.Name] = []

        /// The name of the cache in `Cache-Status` fields (RFC 9211), a token; nil omits the field.
        public var name: String? = "keel"

        /// The maximum time entries are kept past their freshness, for validation and offline use.
        public var retention: Duration = .seconds(30 * 86_400)

        /// The maximum number of responses kept per address, differing in fields named by `Vary`; at least 1.
        public var variantLimit = 32

        /// The size in bytes above which a body goes to a file, if the tier has files.
        public var fileThreshold = 256 << 10

        /// The maximum size in bytes of a stored body if the tier has no files.
        public var memoryBodyLimit = 8 << 20

        /// The maximum size in bytes of a stored body.
        public var bodyLimit = 256 << 20

        /// The maximum number of concurrent background revalidations; more are not started.
        public var backgroundLimit = 16

        /// The timeout of a background revalidation, body included; a later call starts another.
        public var backgroundTimeout: Duration = .seconds(60)

        /// The source of the names of stored bodies; a test provides its own.
        public var randomness: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

        /// Creates the configuration of an app's cache.
        public init() {}

        /// The configuration of a cache shared by all users.
        public static var shared: Configuration {
            var configuration = Configuration()
            configuration.audience = .sharedCache
            return configuration
        }

        var rules: CacheRules {
            var rules = CacheRules()
            rules.isShared = audience == .sharedCache
            rules.dropsCookies = audience == .sharedCache && !servesStoredCookies
            rules.heuristicFraction = heuristicFraction
            rules.heuristicLimit = heuristicLimit.components.seconds
            rules.targetedFields = targetedFields
            rules.offlineLimit = offlineStaleness?.components.seconds
            rules.errorLimit = errorStaleness?.components.seconds
            return rules
        }

        var bodyLimits: BodyRecorder.Limits {
            BodyRecorder.Limits(file: fileThreshold, memory: memoryBodyLimit, total: bodyLimit)
        }
    }
}
