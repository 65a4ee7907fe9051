public import KeelCore

/// An error thrown by a secret store.
///
/// Neither the message nor the cause contains a secret, passphrase or key. A number or name that the platform reported
/// is a ``SecretStoreStatus`` in ``SecretError/cause``.
public struct SecretError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error with a message of one sentence, which may name keys, never their secrets.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

/// A status reported by a platform's own secret store.
public struct SecretStoreStatus: Error, Hashable, Sendable, CustomStringConvertible {
    /// The source of the status: `OSStatus`, `secret-error-quark`, `g-dbus-error-quark` and so on.
    public let domain: String
    /// The reported number.
    public let number: Int

    /// Creates a status.
    public init(domain: String, number: Int) {
        self.domain = domain
        self.number = number
    }

    public var description: String { "\(domain) \(number)" }
}

extension SecretError {
    /// The kinds of secret store failures; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension SecretError.Code {
    // MARK: Secret errors

    /// The store could not save the secret.
    public static var saveFailed: Self {
        .permanent(
            "Check the cause; the store contains either the old secret or the new one, complete."
        )
    }
    /// The store could not be read.
    public static var loadFailed: Self {
        .permanent("Check the cause, and whether another program can read the store.")
    }
    /// The store could not remove the secret.
    public static var deleteFailed: Self {
        .permanent("Check the cause; the secret may still exist.")
    }
    /// The key has no secret.
    public static var keyNotFound: Self {
        .permanent("Save the secret first, or use loadIfPresent(forKey:) if it may be missing.")
    }
    /// The stored bytes do not have the requested form.
    public static var invalidData: Self {
        .permanent("Load it as Data, or with the type it was saved with.")
    }
    /// A name, value or setting is invalid.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message describes; an identical call fails again.")
    }
    /// The secret exceeds the maximum size of the store.
    public static var tooLarge: Self {
        .permanent("Store the data in an encrypted file, and its key in the secret store.")
    }
    /// A value could not be encoded.
    public static var encodingFailed: Self {
        .permanent("Change the value or its Encodable conformance; JSON has no NaN, for example.")
    }

    // MARK: Store errors

    /// The store is read-only.
    public static var readOnly: Self {
        .permanent(
            "Choose a store whose capabilities contain .writable, or set the secret externally."
        )
    }
    /// The store is locked.
    public static var locked: Self {
        .permanent("Unlock the store, for example by logging in, and repeat the call.")
    }
    /// The session bus of the Secret Service is missing.
    public static var noBus: Self {
        .permanent("Run in a session (dbus-run-session starts one), or use an encrypted file.")
    }
    /// The Secret Service is running but has no collection to keep secrets in.
    public static var noCollection: Self {
        .permanent("Create a default keyring, or use an encrypted file.")
    }
    /// The library of the platform's store is not installed.
    public static var missingLibrary: Self {
        .permanent("Install libsecret (Debian: libsecret-1-0), or use an encrypted file.")
    }
    /// No store is available, and secrets are not kept in memory unless requested.
    public static var noStore: Self {
        .permanent(
            "Choose a store, unlock the Secret Service, or use an encrypted file with a key source."
        )
    }
    /// The program has no permission to read or write the store, or other users can read it.
    public static var permissionDenied: Self {
        .permanent("Make the file accessible only to the program's user: mode 0600, folder 0700.")
    }
    /// The disk is full.
    public static var diskFull: Self {
        .permanent("Free disk space; existing secrets are intact.")
    }

    // MARK: Key errors

    /// The encryption key of the store is missing.
    public static var missingKey: Self {
        .permanent("Provide the key where its source expects it, as the message describes.")
    }
    /// The store was encrypted with another key or passphrase.
    public static var wrongKey: Self {
        .permanent(
            "Provide the key that the store was created with; nothing can be read without it."
        )
    }
    /// The store's file was changed, truncated, or is not a store.
    public static var damaged: Self {
        .permanent("Restore the file from a backup, or move it away to start with an empty store.")
    }
    /// The store was written by a later version.
    public static var unsupportedFormat: Self {
        .permanent("Update the program; the file is unchanged.")
    }

    // MARK: Transient errors and cancellation

    /// The store did not answer in time, or another process held its lock.
    public static var timeout: Self {
        .transient("Try again; a desktop prompt may have been left unanswered.")
    }
    /// The store is temporarily unreachable.
    public static var unavailable: Self {
        .transient("Try again; the cause names the service that did not answer.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }
    /// An unclassified failure; ``SecretError/cause`` holds it.
    public static var unknown: Self {
        .permanent("Check the cause, and report it as a missing classification.")
    }

    public static let known: [Self] = [
        .saveFailed, .loadFailed, .deleteFailed, .keyNotFound, .invalidData, .invalidArgument,
        .tooLarge, .encodingFailed, .readOnly, .locked, .noBus, .noCollection, .missingLibrary,
        .noStore, .permissionDenied, .diskFull, .missingKey, .wrongKey, .damaged,
        .unsupportedFormat, .timeout, .unavailable, .cancelled, .unknown,
    ]
}

extension SecretError {
    init(_ error: FileSystemError, otherwise code: Code) {
        switch error.kind {
        case .notPermitted:
            self.init(.permissionDenied, "Access to \(error.name) was denied.", cause: error)
        case .noSpace:
            self.init(
                .diskFull,
                "The disk is full; \(error.name) could not be written.",
                cause: error
            )
        case .busy:
            self.init(.timeout, "Another process has locked \(error.name).", cause: error)
        default:
            self.init(code, "\(error.name) could not be accessed.", cause: error)
        }
    }
}
