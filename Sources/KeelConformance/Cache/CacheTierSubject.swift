public import KeelCache

/// How checks open the tier that they are about.
///
/// ```swift
/// let subject = CacheTierSubject(features: [.byteLimit]) { setting in
///     MyCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
/// }
/// ```
public struct CacheTierSubject: Sendable {
    /// What a tier can do beyond what all can.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// What was flushed is there when the tier is opened again under the same name.
        public static let durability = Features(rawValue: 1 << 0)
        /// Makes files for large values.
        public static let files = Features(rawValue: 1 << 1)
        /// Keeps within ``CacheTierSubject/Setting/byteLimit`` at every moment.
        public static let byteLimit = Features(rawValue: 1 << 2)
    }

    /// What a check wants of the tier that it opens.
    public struct Setting: Sendable {
        /// The time that the tier has to go by.
        public let clock: CacheClock
        /// A name that no other check uses, fit for a folder.
        ///
        /// A check that opens a tier twice under one name expects its entries again.
        public let name: String
        /// The most bytes that the tier may take, nil where the check does not care.
        public let byteLimit: Int?
    }

    /// What the tier can do.
    public let features: Features
    let open: @Sendable (Setting) async throws -> any CacheTier
    let close: @Sendable (any CacheTier) async throws -> Void

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: What the tier can do.
    ///   - close: Ends the use of a tier, so that another can be opened under its name.
    ///   - open: Opens a tier.
    public init(
        features: Features = [],
        close: @escaping @Sendable (any CacheTier) async throws -> Void = { _ in },
        open: @escaping @Sendable (Setting) async throws -> any CacheTier
    ) {
        self.features = features
        self.close = close
        self.open = open
    }
}
