/// A call of a part of Keel, as a line for a log.
///
/// Keel's observations contain names, counts and codes, but no values, keys, paths, ids, tokens or error messages.
public struct KeelObservation: Sendable, Hashable {
    /// A part that reports its calls; an app may add its own.
    public struct Area: Sendable, Hashable, CustomStringConvertible {
        /// The name, such as `storage`.
        public let name: String

        /// Creates a custom area.
        public init(_ name: String) { self.name = name }

        public var description: String { name }

        /// Documents.
        public static let storage = Self("storage")
        /// The app's web service.
        public static let network = Self("network")
        /// The tier below the memory of caches; hits in memory are not reported.
        public static let caches = Self("caches")
        /// Files.
        public static let files = Self("files")
        /// Secrets.
        public static let secrets = Self("secrets")
        /// The device's position.
        public static let location = Self("location")
        /// Tracking and delivery.
        public static let analytics = Self("analytics")
        /// Encryption.
        public static let security = Self("security")
        /// Writes that wait for a server.
        public static let outbox = Self("outbox")
        /// Loads of repositories, as reported by their `ResourceLoader`.
        public static let repositories = Self("repositories")
    }

    /// The area.
    public var area: Area
    /// The call or incident, such as `commit`.
    public var operation: String
    /// The duration, if known.
    public var duration: Duration?
    /// Counts and names, such as `documents: 3`, but no values.
    public var details: [String: String]
    /// The code of the error; nil after a success.
    public var failure: String?
    /// Whether the failure deserves attention; false for a canceled call.
    public var isWarning: Bool

    /// Creates an observation of a custom part.
    public init(
        _ area: Area,
        _ operation: String,
        duration: Duration? = nil,
        details: [String: String] = [:],
        failure: String? = nil
    ) {
        self.area = area
        self.operation = operation
        self.duration = duration
        self.details = details
        self.failure = failure
        isWarning = failure != nil && failure != "cancelled"
    }
}

extension KeelObservation: CustomStringConvertible {
    /// The line: `storage commit failed: conflict (documents: 1) in 0.002 seconds`.
    public var description: String {
        var line = "\(area) \(operation)"
        if let failure { line += " failed: \(failure)" }
        if !details.isEmpty {
            let pairs = details.sorted { $0.key < $1.key }.map { "\($0.key): \($0.value)" }
            line += " (\(pairs.joined(separator: ", ")))"
        }
        if let duration { line += " in \(duration)" }
        return line
    }
}
