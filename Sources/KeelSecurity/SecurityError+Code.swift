public import KeelCore

extension SecurityError {
    /// The kinds of security failures; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code for a failure of a key source that no predefined code describes.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension SecurityError.Code {
    /// No usable key exists: there is no keyset, no key with this id, or no key that may encrypt now.
    public static let keyNotFound = Self(
        name: "keyNotFound",
        advice:
            "Give the service a keyset with an enabled primary key whose dates allow encryption."
    )
    /// The cipher failed to encrypt.
    public static let encryptionFailed = Self(
        name: "encryptionFailed",
        advice: "Check the cause; the data was not encrypted and nothing was written."
    )
    /// The bytes are damaged, were encrypted with another key, or belong to another context.
    public static let decryptionFailed = Self(
        name: "decryptionFailed",
        advice: "Check that the keyset still has the key, and that the associated data is the same."
    )
    /// The system returned no random bytes.
    public static let randomGenerationFailed = Self(
        name: "randomGenerationFailed",
        isTransient: true,
        advice: "Try again; without random bytes the system cannot protect secrets."
    )
    /// A key or keyset is damaged or invalid.
    public static let invalidKey = Self(
        name: "invalidKey",
        advice: "Create a new keyset, or restore it from a copy."
    )
    /// A key uses an algorithm or format that this version does not support.
    public static let unsupportedKey = Self(
        name: "unsupportedKey",
        advice: "Use a key of one of the types that KeyAlgorithm lists."
    )
    /// An argument of the call is out of range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message describes; an identical call fails again."
    )
    /// A text is not a password hash in a supported format.
    public static let invalidHash = Self(
        name: "invalidHash",
        advice: "Store the whole text that PasswordHasher returned, unchanged."
    )
    /// The primary key has encrypted as many messages as it may.
    public static let usageLimitReached = Self(
        name: "usageLimitReached",
        advice:
            "Rotate the keyset, or let the key ring save it so that it can rotate itself."
    )
    /// The keyset could not be saved, or its key-encryption key was not available.
    public static let keyStoreFailed = Self(
        name: "keyStoreFailed",
        advice: "Check the storage of the keys; see the cause for details."
    )
    /// The source of a stream, or the consumer of its result, failed.
    public static let streamFailed = Self(
        name: "streamFailed",
        advice: "Check the cause, and start the stream over."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )

    public static let known: [Self] = [
        .keyNotFound, .encryptionFailed, .decryptionFailed, .randomGenerationFailed, .invalidKey,
        .unsupportedKey, .invalidArgument, .invalidHash, .usageLimitReached, .keyStoreFailed,
        .streamFailed, .cancelled,
    ]
}
