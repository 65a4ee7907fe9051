public import KeelCache

/// A factory of the tiers that checks open.
///
/// ```swift
/// let subject = CacheTierSubject(features: [.byteLimit]) { setting in
///     MyCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
/// }
/// ```
public struct CacheTierSubject: Sendable {
    /// Optional features of a tier.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The tier keeps flushed entries when it is opened again under the same name.
        public static let durability = Features(rawValue: 1 << 0)
        /// The tier makes files for large values.
        public static let files = Features(rawValue: 1 << 1)
        /// The tier stays within ``CacheTierSubject/Setting/byteLimit`` at all times.
        public static let byteLimit = Features(rawValue: 1 << 2)
    }

    /// The settings of a tier that a check opens.
    public struct Setting: Sendable {
        /// The tier's clock.
        public let clock: CacheClock
        /// A name that no other check uses, suitable for a folder.
        ///
        /// A check that opens a tier twice under one name expects to find its entries.
        public let name: String
        /// The largest size of the tier in bytes; nil lets the subject choose.
        public let byteLimit: Int?
    }

    /// The features of the tier.
    public let features: Features
    let open: @Sendable (Setting) async throws -> any CacheTier
    let close: @Sendable (any CacheTier) async throws -> Void

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: The features of the tier.
    ///   - close: Closes a tier, before another is opened under its name and at the end of each check.
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
