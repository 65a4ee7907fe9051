public import HTTPTypes

extension HTTPCache {
    /// How a cache behaves.
    public struct Configuration: Sendable {
        /// Who uses the cache.
        public enum Audience: Hashable, Sendable {
            /// One user, or several that are kept apart by ``Configuration/partition``: an app.
            case onePerson
            /// Everybody at once: a proxy. Responses for one user are not stored (RFC 9111 section
            /// 3.5 and `private`), `s-maxage` counts, and nothing is kept apart.
            case everybody
        }

        /// Who uses the cache.
        public var audience = Audience.onePerson

        /// Whose responses are kept apart; a cache for everybody keeps nothing apart.
        public var partition = HTTPCachePartition.credentials

        /// For how long past its freshness a response may stand in for an origin that cannot be
        /// reached; nil, the default, for never.
        ///
        /// With it, a call may return old data as a plain value: only the reply tells, see
        /// ``HTTPCacheResult/stale(_:)``. A call asks for it by itself with
        /// ``HTTPCachePolicy/staleWhenOffline``. RFC 9111 section 4.2.4 allows it to a cache that is
        /// disconnected. `must-revalidate` and `no-cache` are kept in any case, and what an origin
        /// allows with `stale-if-error` is used in any case.
        public var offlineStaleness: Duration?

        /// For how long past its freshness a response may stand in for an origin that fails: one that cannot
        /// be reached, or answers 500, 502, 503 or 504; nil, the default, for never.
        ///
        /// A response without `stale-if-error` is used as if it had that directive with this number of
        /// seconds (RFC 5861 section 4). A directive of the request or the response comes first, and
        /// `must-revalidate` and `no-cache` are obeyed in any case. It is meant for a proxy in front of
        /// your own origin, so that users do not notice a failure of the origin.
        public var errorStaleness: Duration?

        /// Whether a cache for everybody uses stored responses with the cookies that they set.
        ///
        /// RFC 9111 section 7.3 leaves it to origins to keep such responses out of shared caches. Not
        /// all do, and the cookie of one user's session must not go to another: the field is left out
        /// of what comes from the cache. A cache for one person always has it.
        public var sharesCookies = false

        /// Which part of the time since its last change a response is fresh for that does not say
        /// how long (RFC 9111 section 4.2.2); 0 does not guess.
        public var heuristicFraction = 0.1

        /// The longest time that is guessed.
        public var heuristicLimit: Duration = .seconds(86_400)

        /// Fields that take the place of `Cache-Control`, such as `CDN-Cache-Control`, the first one
        /// that is there (RFC 9213); for a cache that belongs to an origin.
        public var targetedFields: [HTTPField.Name] = []

        /// The name of the cache in the `Cache-Status` field of replies (RFC 9211), a token; nil
        /// leaves the field alone.
        public var name: String? = "keel"

        /// How long entries are kept past their freshness, for validation and for times without a
        /// network, unless room is needed before.
        public var retention: Duration = .seconds(30 * 86_400)

        /// The most responses of one address that are kept, differing in what `Vary` names.
        public var variantLimit = 32

        /// Longer bodies go to a file, where the tier has files.
        public var fileThreshold = 256 << 10

        /// Longer bodies are not stored where the tier has no files.
        public var memoryBodyLimit = 8 << 20

        /// Longer bodies are not stored.
        public var bodyLimit = 256 << 20

        /// The most revalidations that run in the background at once; further ones are left out, and
        /// the next caller starts them.
        public var backgroundLimit = 16

        /// How long a revalidation in the background may take, its body included; then it is
        /// cancelled, and the next caller starts another.
        public var backgroundTimeout: Duration = .seconds(60)

        /// Where names of bodies come from; a test gives its own.
        public var randomness: @Sendable () -> UInt64 = { UInt64.random(in: .min ... .max) }

        /// Creates the configuration of an app's cache.
        public init() {}

        /// The configuration of a cache that everybody shares.
        public static var shared: Configuration {
            var configuration = Configuration()
            configuration.audience = .everybody
            return configuration
        }

        var rules: CacheRules {
            var rules = CacheRules()
            rules.isShared = audience == .everybody
            rules.dropsCookies = audience == .everybody && !sharesCookies
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
