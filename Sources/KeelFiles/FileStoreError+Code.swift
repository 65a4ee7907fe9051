public import KeelCore

extension FileStoreError {
    /// The kinds of file store failures; later versions may add more.
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

extension FileStoreError.Code {
    // MARK: File errors

    /// There is no file at the path.
    public static let fileNotFound = Self(
        name: "fileNotFound",
        advice: "Write the file first, or use readIfPresent(_:upTo:) if it may be missing."
    )
    /// The precondition failed: the file exists, is missing, or has another version.
    public static let conditionFailed = Self(
        name: "conditionFailed",
        advice: "Read the file again, and repeat the call with its new version."
    )
    /// A folder has the name of the file, or a file has the name of one of its folders.
    public static let pathTaken = Self(
        name: "pathTaken",
        advice:
            "Choose another path; this store cannot have a file and a folder with the same name."
    )
    /// The path refers to a symbolic link, a device or a socket instead of a file.
    public static let notAFile = Self(
        name: "notAFile",
        advice:
            "Replace it with a regular file; stores do not follow links, which may lead outside them."
    )
    /// The file exceeds the memory limit of the call or the maximum size of the store.
    public static let tooLarge = Self(
        name: "tooLarge",
        advice: "Read the file with open(_:range:ifVersion:), piece by piece, or raise the limit."
    )
    /// The range begins beyond the end of the file.
    public static let rangeNotSatisfiable = Self(
        name: "rangeNotSatisfiable",
        advice: "Request the metadata, and then a range that begins within the file."
    )
    /// The bytes do not have the expected checksum or length.
    public static let checksumMismatch = Self(
        name: "checksumMismatch",
        advice: "Transfer the file again; the previous file is intact."
    )
    /// The stored bytes are not those that were written.
    public static let damaged = Self(
        name: "damaged",
        advice: "Write the file again, or restore it from a backup."
    )

    // MARK: Call errors

    /// The path is invalid.
    public static let invalidPath = Self(
        name: "invalidPath",
        advice:
            "Correct the path as the message describes; see FileStorePath for the allowed paths."
    )
    /// A value or setting is out of range.
    public static let invalidArgument = Self(
        name: "invalidArgument",
        advice: "Correct the call as the message describes; an identical call fails again."
    )
    /// The store does not support the operation.
    public static let unsupported = Self(
        name: "unsupported",
        advice: "Check the store's capabilities, or choose another store."
    )
    /// The content of a file can be read only once, and was read before.
    public static let contentConsumed = Self(
        name: "contentConsumed",
        advice: "Use a FileContent that can be replayed: bytes, or a file on disk."
    )
    /// The content to write could not be read.
    public static let sourceFailed = Self(
        name: "sourceFailed",
        advice: "Check the cause; the previous file is intact."
    )

    // MARK: Store errors

    /// The store could not be read.
    public static let readFailed = Self(
        name: "readFailed",
        advice: "Check the cause and the disk."
    )
    /// The store could not be written.
    public static let writeFailed = Self(
        name: "writeFailed",
        advice: "Check the cause; the previous file is intact."
    )
    /// The program lacks permission.
    public static let permissionDenied = Self(
        name: "permissionDenied",
        advice: "Give the program's user permission to read and write the store's folder."
    )
    /// The disk is full.
    public static let diskFull = Self(
        name: "diskFull",
        advice: "Free disk space; the previous file is intact."
    )

    // MARK: Transient errors and cancellation

    /// The store did not answer in time.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        advice: "Try again; a change that timed out may have taken effect."
    )
    /// The store is temporarily unreachable.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        advice: "Try again later; the cause names the service that did not answer."
    )
    /// The call was canceled.
    public static let cancelled = Self(
        name: "cancelled",
        advice: "Nothing to do: the caller stopped waiting for the result."
    )
    /// An unclassified failure; ``FileStoreError/cause`` holds it.
    public static let unknown = Self(
        name: "unknown",
        advice: "Check the cause, and report it as a missing classification."
    )

    public static let known: [Self] = [
        .fileNotFound, .conditionFailed, .pathTaken, .notAFile, .tooLarge, .rangeNotSatisfiable,
        .checksumMismatch, .damaged, .invalidPath, .invalidArgument, .unsupported,
        .contentConsumed, .sourceFailed, .readFailed, .writeFailed, .permissionDenied, .diskFull,
        .timeout, .unavailable, .cancelled, .unknown,
    ]
}
