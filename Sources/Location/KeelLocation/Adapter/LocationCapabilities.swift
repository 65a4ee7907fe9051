/// The kind and features of a source.
public struct LocationCapabilities: Hashable, Sendable {
    /// The kind of a source; later versions and other adapters may add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        /// Creates a kind.
        public init(name: String) { self.name = name }

        public var description: String { name }

        /// No source.
        public static let none = Self(name: "none")
        /// A scripted track.
        public static let scripted = Self(name: "scripted")
        /// The gpsd daemon, over TCP.
        public static let gpsd = Self(name: "gpsd")
        /// Apple's CoreLocation.
        public static let coreLocation = Self(name: "coreLocation")
    }

    /// The features of a source.
    public struct Features: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The user must grant permission.
        public static let asksPermission = Self(rawValue: 1 << 0)
        /// Permission can be requested for any time, not only while the app is in use.
        public static let asksForAlways = Self(rawValue: 1 << 1)
        /// The source is another process or machine, to which the connection can break.
        public static let connects = Self(rawValue: 1 << 2)
        /// A lower accuracy saves power.
        public static let adjustsAccuracy = Self(rawValue: 1 << 3)
    }

    /// The kind of the source.
    public var kind: Kind
    /// The features of the source.
    public var features: Features
    /// Why the source cannot be used now, as far as known without trying; nil if it can.
    public var problem: LocationError.Code?

    /// Creates a description of a source.
    public init(kind: Kind, features: Features = [], problem: LocationError.Code? = nil) {
        self.kind = kind
        self.features = features
        self.problem = problem
    }
}
