public import KeelFiles

/// How checks open the file store that they are about.
///
/// ```swift
/// let subject = FileStoreSubject(features: [.attributes]) { name in
///     MyFileStoreAdapter(bucket: name)
/// }
/// ```
public struct FileStoreSubject: Sendable {
    /// What a store can do beyond what all can.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Keeps a content type and attributes of the app's choice.
        public static let attributes = Features(rawValue: 1 << 0)
        /// Keeps a checksum of each file.
        public static let checksums = Features(rawValue: 1 << 1)
        /// A second adapter, opened under the same name, sees the same files.
        public static let reopening = Features(rawValue: 1 << 2)
        /// Tells of changes.
        public static let watching = Features(rawValue: 1 << 3)
        /// Refuses a file where a folder is, and a folder where a file is.
        public static let eitherFileOrFolder = Features(rawValue: 1 << 4)
        /// Tells names apart that differ in upper and lower case alone.
        public static let distinguishesCase = Features(rawValue: 1 << 5)
        /// Gives a file another version when the same bytes are put again.
        public static let distinctVersions = Features(rawValue: 1 << 6)

        /// What a store of full worth can do.
        public static let complete: Features = [
            .attributes, .checksums, .reopening, .watching, .eitherFileOrFolder,
            .distinguishesCase, .distinctVersions,
        ]
    }

    /// What the store can do.
    public let features: Features
    let open: @Sendable (_ name: String) async throws -> any FileStoreAdapter

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: What the store can do.
    ///   - open: Opens a store by a name that is fit for a folder; one that no check has used
    ///     before is empty.
    public init(
        features: Features,
        open: @escaping @Sendable (_ name: String) async throws -> any FileStoreAdapter
    ) {
        self.features = features
        self.open = open
    }
}
