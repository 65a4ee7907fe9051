public import KeelLocation

/// A factory of the location sources that checks open and control.
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
    /// Optional features of a location source.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The receiver can lose its position and reports that.
        public static let searches = Features(rawValue: 1 << 0)
        /// The source reports accuracies, altitude, speed, course and time, any of which may be missing.
        public static let details = Features(rawValue: 1 << 1)
        /// The connection to the source can be broken and restored.
        public static let breaks = Features(rawValue: 1 << 2)
        /// The user decides whether the position may be used.
        public static let permission = Features(rawValue: 1 << 3)
        /// The source reports equal fixes separately.
        public static let repeats = Features(rawValue: 1 << 4)
    }

    /// The settings of a source that a check opens.
    public struct Setting: Sendable {
        /// The initial permission; sources without ``Features/permission`` may ignore it.
        public let permission: LocationPermission
        /// The user's answer when asked; nil leaves the question open until the check decides.
        public let answer: LocationPermission?
    }

    /// An event that a check triggers in the source.
    public enum Feed: Sendable {
        /// The receiver has a position.
        case fix(LocationFix)
        /// The receiver has lost its position.
        case noFix
        /// The connection breaks and cannot be restored yet.
        case breakConnection
        /// New connections succeed again.
        case restoreConnection
        /// The user changes the permission.
        case decide(LocationPermission)
    }

    /// An open source with its controls.
    public struct Source: Sendable {
        let adapter: any LocationAdapter
        let userCount: @Sendable () async -> Int
        let close: @Sendable () async -> Void
        let feed: @Sendable (Feed) async throws -> Void

        /// Creates a source.
        ///
        /// - Parameters:
        ///   - adapter: The adapter under test.
        ///   - userCount: Returns the current number of connections, delegates or similar that receive events.
        ///   - close: Releases the resources of the source; called at the end of each check.
        ///   - feed: Triggers an event in the source.
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

    /// The features of the source.
    public let features: Features
    /// The time that a check waits for an event before it fails.
    public let limit: Duration
    let open: @Sendable (Setting) async throws -> Source

    /// Creates a subject with these features; `open` opens a source.
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
