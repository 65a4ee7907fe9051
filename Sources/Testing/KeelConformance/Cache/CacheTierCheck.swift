public import Testing

/// A promise of `CacheTier` as a check for any tier or decorator.
///
/// Run all checks as arguments, so that each is a line of its own in the log:
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
/// Each check opens its own tier and moves the time with its own clock; none sleeps.
public struct CacheTierCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading whole entries.
        case reading
        /// Replacing entries.
        case writing
        /// Removing entries by key, and all entries.
        case removal
        /// Removing entries by tag.
        case tags
        /// Expiry.
        case expiry
        /// Limits on size.
        case limits
        /// Values too large for memory.
        case files
        /// Concurrent tasks.
        case concurrency
        /// Usage counts.
        case usage
        /// Entries that survive a reopening.
        case durability
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the tier.
    public let promise: String
    /// The features that the promise requires.
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

    /// Runs the check on a tier, recording an issue for each violation.
    ///
    /// - Throws: An error of the tier that the promise does not allow.
    public func run(on subject: CacheTierSubject) async throws {
        try await TierUnderTest.run(on: subject, body)
    }

    /// Returns the checks that apply to a tier with these features.
    public static func applicable(to features: CacheTierSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, writing, removal, tags, expiry, limits, files, concurrency, usage, durability,
    ].flatMap { $0 }
}
