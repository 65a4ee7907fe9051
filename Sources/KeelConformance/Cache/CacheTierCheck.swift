public import Testing

/// One promise of `CacheTier`, as a check that any tier or decorator can be put to.
///
/// Run all of them, so that each promise is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: CacheTierCheck.applicable(to: [.byteLimit]))
/// func keepsItsPromises(_ check: CacheTierCheck) async throws {
///     try await check.run(on: CacheTierSubject(features: [.byteLimit]) { setting in
///         MyCacheTier(byteLimit: setting.byteLimit ?? 64 << 20, clock: setting.clock)
///     })
/// }
/// ```
///
/// Each check opens a tier of its own, and moves its time with a clock of its own: none sleeps.
public struct CacheTierCheck: Sendable, CustomTestStringConvertible {
    /// What a check is about.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// What is found, and that it is whole.
        case reading
        /// What becomes of what was there before.
        case writing
        /// Forgetting by key, and all.
        case removal
        /// Forgetting by tag.
        case tags
        /// Time.
        case expiry
        /// Room.
        case limits
        /// Values too large for memory.
        case files
        /// Many tasks at a time.
        case concurrency
        /// Counts.
        case usage
        /// What outlives the program.
        case durability
    }

    /// What the check is about.
    public let group: Group
    /// The promise, as a sentence about the tier.
    public let promise: String
    /// What a tier must be able to do for the promise to concern it.
    public let needs: CacheTierSubject.Features

    private let body: @Sendable (TierUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: CacheTierSubject.Features = [],
        _ body: @escaping @Sendable (TierUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Puts a tier to the check, recording an issue with the current test for each violation.
    ///
    /// - Throws: What the tier throws where the promise leaves it no reason to.
    public func run(on subject: CacheTierSubject) async throws {
        try await TierUnderTest.run(on: subject, body)
    }

    /// The checks that concern a tier with these features.
    public static func applicable(to features: CacheTierSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, writing, removal, tags, expiry, limits, files, concurrency, usage, durability,
    ].flatMap { $0 }
}
