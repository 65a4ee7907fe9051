public import KeelCore

extension SecretError {
    /// The kinds of secret store failures; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code for a failure of an adapter that no predefined code describes.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension SecretError.Code {
    // MARK: Secret errors

    /// The store could not save the secret.
    public static let saveFailed = Self(
        name: "saveFailed",
        advice:
            "Check the cause; the store contains either the old secret or the new one, complete."
    )
    /// The store could not be read.
    public static let loadFailed = Self(
        name: "loadFailed",
        advice: "Check the cause, and whether another program can read the store."
    )
    /// The store could not remove the secret.
    public static let deleteFailed = Self(
        name: "deleteFailed",
        advice: "Check the cause; the secret may still exist."
    )
    /// The key has no secret.
    public static let keyNotFound = Self(
        name: "keyNotFound",
        advice: "Save the secret first, or use loadIfPresent(forKey:) if it may be missing."
    )
    /// The stored bytes do not have the requested form.
    public static let invalidData = Self(
        name: "invalidData",
        advice: "Load it as Data, or with the type it was saved with."
    )
    /// A name, value or setting is out of range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message describes; an identical call fails again."
    )
    /// The secret exceeds the maximum size of the store.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Store the data in an encrypted file, and its key in the secret store."
    )
    /// A value could not be encoded.
    public static let encodingFailed = Self(
        name: "encodingFailed",
        advice: "Change the value or its Encodable conformance; JSON has no NaN, for example."
    )

    // MARK: Store errors

    /// The store is read-only.
    public static let readOnly = Self(
        name: "readOnly",
        advice: "Choose a store whose capabilities contain .writable, or set the secret externally."
    )
    /// The store is locked.
    public static let locked = Self(
        name: "locked",
        advice: "Unlock the store, for example by logging in, and repeat the call."
    )
    /// There is no session bus on which to find a Secret Service.
    public static let noBus = Self(
        name: "noBus",
        advice: "Run in a session (dbus-run-session starts one), or use an encrypted file."
    )
    /// The Secret Service is running but has no collection to keep secrets in.
    public static let noCollection = Self(
        name: "noCollection",
        advice: "Create a default keyring, or use an encrypted file."
    )
    /// The library of the platform's store is not installed.
    public static let missingLibrary = Self(
        name: "missingLibrary",
        advice: "Install libsecret (Debian: libsecret-1-0), or use an encrypted file."
    )
    /// No store is available, and secrets are not kept in memory unless requested.
    public static let noStore = Self(
        name: "noStore",
        advice:
            "Choose a store, unlock the Secret Service, or use an encrypted file with a key source."
    )
    /// The store may not be read or written, or other users can read it.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Make the file accessible only to the program's user: mode 0600, folder 0700."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        advice: "Free disk space; existing secrets are intact."
    )

    // MARK: Key errors

    /// The encryption key of the store is missing.
    public static let missingKey = Self(
        name: "missingKey",
        advice: "Provide the key where its source expects it, as the message describes."
    )
    /// The store was encrypted with another key or passphrase.
    public static let wrongKey = Self(
        name: "wrongKey",
        advice: "Provide the key that the store was created with; nothing can be read without it."
    )
    /// The store's file was changed, truncated, or is not a store.
    public static let damaged = Self(
        name: "damaged",
        advice: "Restore the file from a backup, or move it away to start with an empty store."
    )
    /// The store was written by a later version.
    public static let unsupportedFormat = Self(
        name: "unsupportedFormat",
        advice: "Update the program; the file is unchanged."
    )

    // MARK: Transient errors and cancellation

    /// The store did not answer in time, or another process held its lock.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        advice: "Try again; a desktop prompt may have been left unanswered."
    )
    /// The store is temporarily unreachable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Try again; the cause names the service that did not answer."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// An unclassified failure; ``SecretError/cause`` holds it.
    public static let unknown = Self(
        name: "unknown",
        advice: "Check the cause, and report it as a missing classification."
    )

    public static let known: [Self] = [
        .saveFailed, .loadFailed, .deleteFailed, .keyNotFound, .invalidData, .invalidArgument,
        .tooLarge, .encodingFailed, .readOnly, .locked, .noBus, .noCollection, .missingLibrary,
        .noStore, .permissionDenied, .diskFull, .missingKey, .wrongKey, .damaged,
        .unsupportedFormat, .timeout, .unavailable, .cancelled, .unknown,
    ]
}
