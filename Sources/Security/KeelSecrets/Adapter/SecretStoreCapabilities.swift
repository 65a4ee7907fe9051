/// The kind of a secret store, its features and its current state.
public struct SecretStoreCapabilities: Hashable, Sendable {
    /// The kind of a store; later versions and other adapters may add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The name of the kind, stable across versions.
        public let name: String

        /// Creates a kind.
        public init(name: String) { self.name = name }

        public var description: String { name }

        /// No store.
        public static let none = Self(name: "none")
        /// Memory of the process.
        public static let memory = Self(name: "memory")
        /// Environment variables of the process.
        public static let environment = Self(name: "environment")
        /// A file that is encrypted as a whole.
        public static let encryptedFile = Self(name: "encryptedFile")
        /// The Secret Service of a Linux desktop: GNOME Keyring, KWallet or KeePassXC.
        public static let secretService = Self(name: "secretService")
        /// Apple's Keychain.
        public static let keychain = Self(name: "keychain")
    }

    /// The features of a store, and whether it is locked.
    public struct Features: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Secrets can be saved and deleted, not only loaded.
        public static let writable = Self(rawValue: 1 << 0)
        /// Secrets survive a restart of the process and of the machine.
        public static let persistent = Self(rawValue: 1 << 1)
        /// The store is locked at the moment: calls fail with `locked` until it is unlocked.
        public static let locked = Self(rawValue: 1 << 2)
        /// The store copies secrets to the user's other devices.
        public static let syncs = Self(rawValue: 1 << 3)
        /// Hardware protects the store's key.
        public static let hardware = Self(rawValue: 1 << 4)
        /// Comparing and setting is atomic across processes.
        public static let comparesAcrossProcesses = Self(rawValue: 1 << 5)
    }

    /// The kind of the store.
    public var kind: Kind
    /// The features of the store.
    public var features: Features
    /// The reason that the store is currently unusable; nil if it is usable.
    public var problem: SecretError.Code?

    /// Creates a description of a store.
    public init(kind: Kind, features: Features, problem: SecretError.Code? = nil) {
        self.kind = kind
        self.features = features
        self.problem = problem
    }

    /// Whether the store has to be unlocked first.
    public var isLocked: Bool { features.contains(.locked) }
    /// Whether secrets can be saved and deleted.
    public var isWritable: Bool { features.contains(.writable) }
}
