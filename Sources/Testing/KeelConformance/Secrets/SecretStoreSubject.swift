public import KeelSecrets

/// A factory of the secret stores that checks open.
///
/// ```swift
/// let subject = SecretStoreSubject(features: [.writable, .anyBytes, .anyNames]) { setting in
///     MySecretStoreAdapter(account: setting.name)
/// }
/// ```
public struct SecretStoreSubject: Sendable {
    /// Optional features of a secret store.
    public struct Features: OptionSet, Sendable, Hashable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// The store can save and delete secrets.
        public static let writable = Features(rawValue: 1 << 0)
        /// The store keeps arbitrary bytes, not only text.
        public static let anyBytes = Features(rawValue: 1 << 1)
        /// The store accepts arbitrary names, not only those of environment variables.
        public static let anyNames = Features(rawValue: 1 << 2)
        /// A second adapter opened under the same name sees the same secrets.
        public static let reopening = Features(rawValue: 1 << 3)
        /// The store refuses every change.
        public static let readOnly = Features(rawValue: 1 << 4)

        /// All features of a writable store.
        public static let complete: Features = [.writable, .anyBytes, .anyNames, .reopening]
    }

    /// The settings of a store that a check opens.
    public struct Setting: Sendable {
        /// A name that no other check uses, suitable for a folder.
        public let name: String
        /// The initial contents of a read-only store; checks fill a writable store themselves.
        public let contents: [SecretName: [UInt8]]
    }

    /// The features of the store.
    public let features: Features
    let open: @Sendable (Setting) async throws -> any SecretStoreAdapter

    /// Creates a subject with these features; `open` opens a store.
    public init(
        features: Features,
        open: @escaping @Sendable (Setting) async throws -> any SecretStoreAdapter
    ) {
        self.features = features
        self.open = open
    }
}
