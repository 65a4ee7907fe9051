/// What a source of positions is, and what it can do.
public struct LocationCapabilities: Hashable, Sendable {
    /// The kind of a source; later versions and other adapters may add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        /// Creates a kind, for an adapter that is written outside of Keel.
        ///
        /// - Parameter name: The kind's name.
        public init(name: String) { self.name = name }

        public var description: String { name }

        /// No source at all.
        public static let none = Self(name: "none")
        /// A track that somebody has written.
        public static let scripted = Self(name: "scripted")
        /// The daemon gpsd, over TCP.
        public static let gpsd = Self(name: "gpsd")
        /// Apple's CoreLocation.
        public static let coreLocation = Self(name: "coreLocation")
    }

    /// What a source can do.
    public struct Features: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The user decides; without it nobody is asked.
        public static let asksPermission = Self(rawValue: 1 << 0)
        /// The user can be asked for the position at any time, not only while the app is in use.
        public static let asksForAlways = Self(rawValue: 1 << 1)
        /// The source is another process or machine, whose connection can break.
        public static let connects = Self(rawValue: 1 << 2)
        /// Asking for less accuracy saves power.
        public static let adjustsAccuracy = Self(rawValue: 1 << 3)
    }

    /// Which source it is.
    public var kind: Kind
    /// What it can do.
    public var features: Features
    /// Why it cannot be used just now, as far as that is known without trying; nil where it can.
    public var problem: LocationError.Code?

    /// Creates a description of a source.
    ///
    /// - Parameters:
    ///   - kind: Which source it is.
    ///   - features: What it can do.
    ///   - problem: Why it cannot be used just now.
    public init(kind: Kind, features: Features = [], problem: LocationError.Code? = nil) {
        self.kind = kind
        self.features = features
        self.problem = problem
    }
}
