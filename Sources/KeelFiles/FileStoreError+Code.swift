public import KeelCore

extension FileStoreError {
    /// The kinds of failure of a file store; later versions may add more.
    public struct Code: KeelErrorCode {
        public let name: String
        public let isTransient: Bool
        public let advice: String

        /// Creates a code, for an adapter that has a failure no code here describes.
        public init(name: String, isTransient: Bool = false, advice: String) {
            self.name = name
            self.isTransient = isTransient
            self.advice = advice
        }

        public static func == (left: Self, right: Self) -> Bool { left.name == right.name }
        public func hash(into hasher: inout Hasher) { hasher.combine(name) }
    }
}

extension FileStoreError.Code {
    // MARK: About one file

    /// There is no file at the path.
    public static let fileNotFound = Self(
        name: "fileNotFound",
        advice: "Put the file first, or use find(_:upTo:) where it may be missing."
    )
    /// The file is not as the call expects it: it is there, is not, or has another version.
    public static let conditionFailed = Self(
        name: "conditionFailed",
        advice: "Read the file anew, decide again, and repeat the call with its new version."
    )
    /// A folder has the name that a file is to have, or a file the name of one of its folders.
    public static let pathTaken = Self(
        name: "pathTaken",
        advice: "Choose another path; this store cannot keep a file and a folder under one name."
    )
    /// What has the name is no file: a symbolic link, a device or a socket.
    public static let notAFile = Self(
        name: "notAFile",
        advice: "Put a file in its place; stores follow no links, since those may lead out of them."
    )
    /// The file is larger than the call takes into memory, or than the store keeps.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Read the file with open(_:range:ifVersion:), piece by piece, or raise the limit."
    )
    /// The range begins behind the end of the file.
    public static let rangeNotSatisfiable = Self(
        name: "rangeNotSatisfiable",
        advice: "Ask for the metadata, and for a range that begins within the file."
    )
    /// The bytes do not have the checksum or the length that was told.
    public static let checksumMismatch = Self(
        name: "checksumMismatch",
        advice: "Transfer the file again; what was there before is still there."
    )
    /// The stored bytes are not those that were put.
    public static let damaged = Self(
        name: "damaged",
        advice: "Put the file again, or restore it from a backup."
    )

    // MARK: About the call

    /// The path is none.
    public static let invalidPath = Self(
        name: "invalidPath",
        advice: "Correct the path as the message says; FileStorePath says what a path may hold."
    )
    /// A value or a setting is outside of what is allowed.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message says; repeating it unchanged fails again."
    )
    /// The store cannot do it.
    public static let unsupported = Self(
        name: "unsupported",
        advice: "Look at the store's capabilities, or choose another store."
    )
    /// The content of a file can be read once only, and was.
    public static let contentConsumed = Self(
        name: "contentConsumed",
        advice: "Give a FileContent that can be replayed: bytes, or a file of the machine."
    )
    /// What was to be put could not be read.
    public static let sourceFailed = Self(
        name: "sourceFailed",
        advice: "Look at the cause; what was there before is still there."
    )

    // MARK: About the store

    /// The store could not be read.
    public static let readFailed = Self(
        name: "readFailed",
        advice: "Look at the cause, and whether the disk is in order."
    )
    /// The store could not be written to.
    public static let writeFailed = Self(
        name: "writeFailed",
        advice: "Look at the cause; what was there before is still there."
    )
    /// The program may not do it.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Give the program's user the right to read and write the store's folder."
    )
    /// There is no room left.
    public static let diskFull = Self(
        name: "diskFull",
        advice: "Free some space; what was there before is still there."
    )

    // MARK: About the moment

    /// The store did not answer in time.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        advice: "Try again; a change that timed out may have taken effect."
    )
    /// The store cannot be reached just now.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Try again later; the cause says who did not answer."
    )
    /// The call was cancelled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// A failure that the adapter could not classify; ``FileStoreError/cause`` holds it.
    public static let unknown = Self(
        name: "unknown",
        advice: "Look at the cause, and report it as a missing classification."
    )

    public static let known: [Self] = [
        .fileNotFound, .conditionFailed, .pathTaken, .notAFile, .tooLarge, .rangeNotSatisfiable,
        .checksumMismatch, .damaged, .invalidPath, .invalidArgument, .unsupported,
        .contentConsumed, .sourceFailed, .readFailed, .writeFailed, .permissionDenied, .diskFull,
        .timeout, .unavailable, .cancelled, .unknown,
    ]
}
