public import KeelSecrets

/// How checks open the secret store that they are about.
///
/// ```swift
/// let subject = SecretStoreSubject(features: [.writable, .anyBytes, .anyNames]) { setting in
///     MySecretStoreAdapter(account: setting.name)
/// }
/// ```
public struct SecretStoreSubject: Sendable {
    /// What a store can do beyond what all can.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Secrets can be saved and deleted.
        public static let writable = Features(rawValue: 1 << 0)
        /// Keeps any bytes, and not only text.
        public static let anyBytes = Features(rawValue: 1 << 1)
        /// Keeps any name, and not only those of variables.
        public static let anyNames = Features(rawValue: 1 << 2)
        /// A second adapter, opened under the same name, sees the same secrets.
        public static let reopening = Features(rawValue: 1 << 3)
        /// Refuses every change.
        public static let readOnly = Features(rawValue: 1 << 4)

        /// What a store of full worth can do.
        public static let complete: Features = [.writable, .anyBytes, .anyNames, .reopening]
    }

    /// What a check wants of the store that it opens.
    public struct Setting: Sendable {
        /// A name that no other check uses, fit for a folder.
        public let name: String
        /// What a store that is read-only has to hold; a writable one is filled by the check.
        public let contents: [SecretName: [UInt8]]
    }

    /// What the store can do.
    public let features: Features
    let open: @Sendable (Setting) async throws -> any SecretStoreAdapter

    /// Creates a subject.
    ///
    /// - Parameters:
    ///   - features: What the store can do.
    ///   - open: Opens a store.
    public init(
        features: Features,
        open: @escaping @Sendable (Setting) async throws -> any SecretStoreAdapter
    ) {
        self.features = features
        self.open = open
    }
}
