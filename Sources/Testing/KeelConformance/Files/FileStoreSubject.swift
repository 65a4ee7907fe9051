public import KeelFiles

/// A factory of the file stores that checks open.
///
/// ```swift
/// let subject = FileStoreSubject(features: [.attributes]) { name in
///     MyFileStoreAdapter(bucket: name)
/// }
/// ```
public struct FileStoreSubject: Sendable {
    /// Optional features of a file store.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The store keeps a content type and custom attributes.
        public static let attributes = Features(rawValue: 1 << 0)
        /// The store keeps a checksum of each file.
        public static let checksums = Features(rawValue: 1 << 1)
        /// A second adapter opened under the same name sees the same files.
        public static let reopening = Features(rawValue: 1 << 2)
        /// The store reports changes.
        public static let watching = Features(rawValue: 1 << 3)
        /// The store refuses a file at the path of a folder, and a folder at the path of a file.
        public static let eitherFileOrFolder = Features(rawValue: 1 << 4)
        /// The store distinguishes names that differ only in case.
        public static let distinguishesCase = Features(rawValue: 1 << 5)
        /// The store gives a file a new version when the same bytes are written again.
        public static let distinctVersions = Features(rawValue: 1 << 6)

        /// All features.
        public static let complete: Features = [
            .attributes, .checksums, .reopening, .watching, .eitherFileOrFolder,
            .distinguishesCase, .distinctVersions,
        ]
    }

    /// The features of the store.
    public let features: Features
    let open: @Sendable (_ name: String) async throws -> any FileStoreAdapter

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: The features of the store.
    ///   - open: Opens a store under a name that is suitable for a folder. A store with a new name is empty.
    public init(
        features: Features,
        open: @escaping @Sendable (_ name: String) async throws -> any FileStoreAdapter
    ) {
        self.features = features
        self.open = open
    }
}
