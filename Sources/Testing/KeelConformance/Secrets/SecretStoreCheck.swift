public import Testing

/// A promise of `SecretStoreAdapter` as a check for any adapter.
///
/// Run all applicable checks as arguments, so that each is a line of its own in the log:
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
/// Each check uses its own services and removes the secrets that it saved, for stores that other programs use.
public struct SecretStoreCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading secrets.
        case reading
        /// Bytes, whole and unchanged.
        case bytes
        /// Unusual keys and services.
        case names
        /// The isolation of services.
        case isolation
        /// Replacing secrets.
        case writing
        /// Deleting secrets.
        case removal
        /// The list of keys.
        case listing
        /// Comparing and setting.
        case comparison
        /// Concurrent tasks.
        case concurrency
        /// Refused calls.
        case limits
        /// Text and values.
        case values
        /// A second opening of the store.
        case reopening
        /// The capabilities of a store.
        case capabilities
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the store.
    public let promise: String
    /// The features that the promise requires.
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

    /// Runs the check on a store, recording an issue for each violation.
    ///
    /// - Throws: An error of the store that the promise does not allow.
    public func run(on subject: SecretStoreSubject) async throws {
        try await SecretStoreUnderTest.run(on: subject, holding: contents, body)
    }

    /// Returns the checks that apply to a store with these features.
    public static func applicable(to features: SecretStoreSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, bytes, names, isolation, writing, removal, listing, comparison, concurrency,
        limits, refusals, values, reopening, capabilities,
    ].flatMap { $0 }
}
