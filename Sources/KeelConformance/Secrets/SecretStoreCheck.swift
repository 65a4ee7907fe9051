public import Testing

/// One promise of `SecretStoreAdapter`, as a check that any adapter can be put to.
///
/// Run all of them that apply, so that each promise is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: SecretStoreCheck.applicable(to: [.writable]))
/// func keepsItsPromises(_ check: SecretStoreCheck) async throws {
///     try await check.run(on: SecretStoreSubject(features: [.writable]) { setting in
///         MySecretStoreAdapter(account: setting.name)
///     })
/// }
/// ```
///
/// Each check uses services of its own and removes what it saved, so that a store which other
/// programs use too can be checked.
public struct SecretStoreCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading values.
        case reading
        /// Bytes, whole and unchanged.
        case bytes
        /// Keys and services of every kind.
        case names
        /// What one service does to another: nothing.
        case isolation
        /// What becomes of what was there before.
        case writing
        /// Removing.
        case removal
        /// The list of keys.
        case listing
        /// Comparing and setting.
        case comparison
        /// Many tasks at a time.
        case concurrency
        /// What is refused.
        case limits
        /// Text and values.
        case values
        /// What another opening of the store sees.
        case reopening
        /// What a store says of itself.
        case capabilities
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the store.
    public let promise: String
    /// What a store must be able to do for the promise to concern it.
    public let needs: SecretStoreSubject.Features

    private let contents: [String: String]
    private let body: @Sendable (SecretStoreUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: SecretStoreSubject.Features = .writable,
        holding contents: [String: String] = [:],
        _ body: @escaping @Sendable (SecretStoreUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        self.contents = contents
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Puts a store to the check, recording an issue with the current test for each violation.
    ///
    /// - Parameter subject: How to open the store.
    /// - Throws: What the store throws where the promise leaves it no reason to.
    public func run(on subject: SecretStoreSubject) async throws {
        try await SecretStoreUnderTest.run(on: subject, holding: contents, body)
    }

    /// The checks that concern a store with these features.
    ///
    /// - Parameter features: What the store can do.
    /// - Returns: The checks.
    public static func applicable(to features: SecretStoreSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, bytes, names, isolation, writing, removal, listing, comparison, concurrency,
        limits, refusals, values, reopening, capabilities,
    ].flatMap { $0 }
}
