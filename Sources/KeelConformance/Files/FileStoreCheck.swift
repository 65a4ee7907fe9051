public import Testing

/// One promise of `FileStoreAdapter`, as a check that any adapter can be put to.
///
/// Run all of them that apply, so that each promise is a line of its own in the log:
///
/// ```swift
/// @Test(arguments: FileStoreCheck.applicable(to: [.attributes]))
/// func keepsItsPromises(_ check: FileStoreCheck) async throws {
///     try await check.run(on: FileStoreSubject(features: [.attributes]) { name in
///         MyFileStoreAdapter(bucket: name)
///     })
/// }
/// ```
public struct FileStoreCheck: Sendable, CustomTestStringConvertible {
    /// A group of checks.
    public enum Group: String, Sendable, Hashable, CaseIterable {
        /// Reading files.
        case reading
        /// Parts of files.
        case ranges
        /// What becomes of what was there before.
        case writing
        /// Content types and attributes.
        case metadata
        /// Versions and conditions.
        case conditions
        /// Checksums and lengths.
        case integrity
        /// Copies and moves.
        case transfers
        /// Removing.
        case removal
        /// Lists.
        case listing
        /// Paths of every kind.
        case paths
        /// Many tasks at a time.
        case concurrency
        /// What a cancelled or failing call leaves.
        case interruption
        /// What another opening of the store sees.
        case reopening
        /// Changes that are told.
        case watching
    }

    /// The check's group.
    public let group: Group
    /// The promise, as a sentence about the store.
    public let promise: String
    /// What a store must be able to do for the promise to concern it.
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

    /// Puts a store to the check, recording an issue with the current test for each violation.
    ///
    /// - Parameter subject: How to open the store.
    /// - Throws: What the store throws where the promise leaves it no reason to.
    public func run(on subject: FileStoreSubject) async throws {
        try await FileStoreUnderTest.run(on: subject, body)
    }

    /// The checks that concern a store with these features.
    ///
    /// - Parameter features: What the store can do.
    /// - Returns: The checks.
    public static func applicable(to features: FileStoreSubject.Features) -> [Self] {
        all.filter { features.isSuperset(of: $0.needs) }
    }

    /// Every check.
    public static let all: [Self] = [
        reading, ranges, writing, metadata, conditions, integrity, transfers, removal, listing,
        paths, concurrency, interruption, reopening, watching,
    ].flatMap { $0 }
}
