public import KeelCore

/// An error thrown by the security APIs.
///
/// Messages and causes never contain keys, passwords or plaintext. A failed decryption does not say which of its inputs
/// was wrong, because that would help an attacker who tampered with them.
public struct SecurityError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error with a message of one sentence, without secrets.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension SecurityError {
    /// The kinds of security failures; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension SecurityError.Code {
    /// A key is missing: the keyset, the key with this id, or a key that may encrypt now.
    public static var keyNotFound: Self {
        .permanent(
            "Give the service a keyset with an enabled primary key whose dates allow encryption."
        )
    }
    /// The cipher failed to encrypt.
    public static var encryptionFailed: Self {
        .permanent("Check the cause; the data was not encrypted and nothing was written.")
    }
    /// The bytes are damaged, were encrypted with another key, or belong to another context.
    public static var decryptionFailed: Self {
        .permanent(
            "Check that the keyset still has the key, and that the associated data is the same."
        )
    }
    /// The system returned no random bytes.
    public static var randomGenerationFailed: Self {
        .transient("Try again; without random bytes the system cannot protect secrets.")
    }
    /// A key or keyset is damaged or invalid.
    public static var invalidKey: Self {
        .permanent("Create a new keyset, or restore it from a copy.")
    }
    /// A key uses an algorithm or format that this version does not support.
    public static var unsupportedKey: Self {
        .permanent("Use a key of one of the types that KeyAlgorithm lists.")
    }
    /// An argument of the call is invalid, or the keys are for another purpose.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message describes; an identical call fails again.")
    }
    /// A text is not a password hash in a supported format.
    public static var invalidHash: Self {
        .permanent("Store the whole text that PasswordHasher returned, unchanged.")
    }
    /// The primary key has encrypted as many messages as it may.
    public static var usageLimitReached: Self {
        .permanent("Rotate the keyset, or let the key ring save it so that it can rotate itself.")
    }
    /// The keyset could not be saved, or its key-encryption key was not available.
    public static var keyStoreFailed: Self {
        .permanent("Check the storage of the keys; see the cause for details.")
    }
    /// The source of a stream, or the consumer of its result, failed.
    public static var streamFailed: Self {
        .permanent("Check the cause, and start the stream over.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }

    public static let known: [Self] = [
        .keyNotFound, .encryptionFailed, .decryptionFailed, .randomGenerationFailed, .invalidKey,
        .unsupportedKey, .invalidArgument, .invalidHash, .usageLimitReached, .keyStoreFailed,
        .streamFailed, .cancelled,
    ]
}
