/// What a secret store is, and what it can do.
public struct SecretStoreCapabilities: Hashable, Sendable {
    /// The kind of a store; later versions and other adapters may add more.
    public struct Kind: Hashable, Sendable, CustomStringConvertible {
        /// The kind's name, stable across versions.
        public let name: String

        /// Creates a kind, for an adapter that is written outside of Keel.
        ///
        /// - Parameter name: The kind's name.
        public init(name: String) { self.name = name }

        public var description: String { name }

        /// No store at all.
        public static let none = Self(name: "none")
        /// Memory of the process.
        public static let memory = Self(name: "memory")
        /// The variables of the process.
        public static let environment = Self(name: "environment")
        /// A file that is encrypted as a whole.
        public static let encryptedFile = Self(name: "encryptedFile")
        /// The Secret Service of a Linux desktop: GNOME Keyring, KWallet, KeePassXC.
        public static let secretService = Self(name: "secretService")
        /// Apple's Keychain.
        public static let keychain = Self(name: "keychain")
    }

    /// What a store can do, and the state that it is in.
    public struct Features: OptionSet, Hashable, Sendable {
        public let rawValue: Int

        public init(rawValue: Int) { self.rawValue = rawValue }

        /// Secrets can be saved and deleted, not only loaded.
        public static let writable = Self(rawValue: 1 << 0)
        /// What was saved is there after the process, and after the machine was started again.
        public static let persistent = Self(rawValue: 1 << 1)
        /// The store is locked just now: calls fail with `locked` until somebody unlocks it.
        public static let locked = Self(rawValue: 1 << 2)
        /// The store copies secrets to other devices of the user.
        public static let syncs = Self(rawValue: 1 << 3)
        /// The store's key is kept by hardware.
        public static let hardware = Self(rawValue: 1 << 4)
        /// Comparing and setting is one step for other processes too.
        public static let comparesAcrossProcesses = Self(rawValue: 1 << 5)
    }

    /// Which store it is.
    public var kind: Kind
    /// What it can do.
    public var features: Features
    /// Why it cannot be used just now, nil where it can.
    public var problem: SecretError.Code?

    /// Creates a description of a store.
    ///
    /// - Parameters:
    ///   - kind: Which store it is.
    ///   - features: What it can do.
    ///   - problem: Why it cannot be used just now.
    public init(kind: Kind, features: Features, problem: SecretError.Code? = nil) {
        self.kind = kind
        self.features = features
        self.problem = problem
    }

    /// Whether secrets outlive the process.
    public var isPersistent: Bool { features.contains(.persistent) }
    /// Whether the store has to be unlocked first.
    public var isLocked: Bool { features.contains(.locked) }
    /// Whether secrets can be saved and deleted.
    public var isWritable: Bool { features.contains(.writable) }
}
