public import KeelLocation

/// How checks open the source of positions that they are about, and make it say something.
///
/// ```swift
/// static let subject = LocationAdapterSubject(features: [.searches, .details]) { setting in
///     let adapter = ScriptedLocationAdapter(permission: setting.permission)
///     return .init(adapter, userCount: { adapter.monitorCount }) { feed in
///         Self.play(feed, on: adapter)
///     }
/// }
/// ```
public struct LocationAdapterSubject: Sendable {
    /// What a source can do beyond what all can.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The receiver can lose its position and say so.
        public static let searches = Features(rawValue: 1 << 0)
        /// Accuracies, altitude, speed, course and time come through, and may be missing.
        public static let details = Features(rawValue: 1 << 1)
        /// The connection to the source can be broken and made again.
        public static let breaks = Features(rawValue: 1 << 2)
        /// The user decides whether the position may be used.
        public static let permission = Features(rawValue: 1 << 3)
        /// Two fixes that are the same are two fixes.
        public static let repeats = Features(rawValue: 1 << 4)
    }

    /// What a check wants of the source that it opens.
    public struct Setting: Sendable {
        /// What was decided about the permission at the beginning; sources without
        /// ``Features/permission`` need not look at it.
        public let permission: LocationPermission
        /// What the user decides when asked; nil leaves the question open until the check decides.
        public let answer: LocationPermission?
    }

    /// What a check makes the source do.
    public enum Feed: Sendable {
        /// The receiver has a position.
        case fix(LocationFix)
        /// The receiver has lost its position.
        case noFix
        /// The connection breaks, and no new one can be made.
        case breakConnection
        /// New connections can be made again.
        case restoreConnection
        /// The user changes what was decided.
        case decide(LocationPermission)
    }

    /// A source that was opened, and the hands on it.
    public struct Source: Sendable {
        let adapter: any LocationAdapter
        let userCount: @Sendable () async -> Int
        let close: @Sendable () async -> Void
        let feed: @Sendable (Feed) async throws -> Void

        /// Creates a source.
        ///
        /// - Parameters:
        ///   - adapter: The adapter under test.
        ///   - userCount: How many connections, delegates or the like the source has now that get
        ///     what is fed.
        ///   - close: Gives back what the source holds; called at the end of each check.
        ///   - feed: Makes the source do something.
        public init(
            _ adapter: any LocationAdapter,
            userCount: @escaping @Sendable () async -> Int,
            close: @escaping @Sendable () async -> Void = {},
            feed: @escaping @Sendable (Feed) async throws -> Void
        ) {
            self.adapter = adapter
            self.userCount = userCount
            self.close = close
            self.feed = feed
        }
    }

    /// What the source can do.
    public let features: Features
    /// How long a check waits for what has to come before it fails.
    public let limit: Duration
    let open: @Sendable (Setting) async throws -> Source

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: What the source can do.
    ///   - limit: How long a check waits for what has to come before it fails.
    ///   - open: Opens a source.
    public init(
        features: Features,
        limit: Duration = .seconds(30),
        open: @escaping @Sendable (Setting) async throws -> Source
    ) {
        self.features = features
        self.limit = limit
        self.open = open
    }
}
