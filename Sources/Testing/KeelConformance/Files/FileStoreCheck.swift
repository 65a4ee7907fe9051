public import Testing

/// A promise of `FileStoreAdapter` as a check for any adapter.
///
/// Run all applicable checks as arguments, so that each is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: FileStoreCheck.applicable(to: [.attributes]))
/// func keepsItsPromises(_ check: FileStoreCheck) async throws {
///     try await check.run(on: FileStoreSubject(features: [.attributes]) { name in
///         MyFileStoreAdapter(bucket: name)
///     })
/// }
/// ```
///
/// Each check opens its own store and leaves its files behind.
public struct FileStoreCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading files.
        case reading
        /// Byte ranges.
        case ranges
        /// Replacing files.
        case writing
        /// Content types and attributes.
        case metadata
        /// Versions and conditions.
        case conditions
        /// Checksums and lengths.
        case integrity
        /// Copies and moves.
        case transfers
        /// Deleting files.
        case removal
        /// Listing files.
        case listing
        /// Unusual paths.
        case paths
        /// Concurrent tasks.
        case concurrency
        /// Canceled and failing calls.
        case interruption
        /// A second opening of the store.
        case reopening
        /// Reported changes.
        case watching
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the store.
    public let promise: String
    /// The features that the promise requires.
    public let needs: FileStoreSubject.Features

    private let body: @Sendable (FileStoreUnderTest) async throws -> Void

    init(
        _ group: Group,
        _ promise: String,
        needs: FileStoreSubject.Features = [],
        _ body: @escaping @Sendable (FileStoreUnderTest) async throws -> Void
    ) {
        self.group = group
        self.promise = promise
        self.needs = needs
        self.body = body
    }

    /// The group and the promise.
    public var testDescription: String { "\(group): \(promise)" }

    /// Runs the check on a store, recording an issue for each violation.
    ///
    /// - Throws: An error of the store that the promise does not allow.
    public func run(on subject: FileStoreSubject) async throws {
        try await FileStoreUnderTest.run(on: subject, body)
    }

    /// Returns the checks that apply to a store with these features.
    public static func applicable(to features: FileStoreSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, ranges, writing, metadata, conditions, integrity, transfers, removal, listing,
        paths, concurrency, interruption, reopening, watching,
    ].flatMap { $0 }
}
