public import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// An error thrown by a file store; its message may contain paths, never contents of files.
public struct FileStoreError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error, for an adapter outside of Keel.
    public init(_ code: Code, _ message: String, cause: (any Error)? = nil) {
        self.code = code
        self.message = message
        self.cause = cause
    }
}

extension FileStoreError {
    /// The kinds of file store failures; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension FileStoreError.Code {
    // MARK: File errors

    /// The file does not exist.
    public static var fileNotFound: Self {
        .permanent("Write the file first, or use readIfPresent(_:upTo:) if it may be missing.")
    }
    /// The precondition failed: the file exists, is missing, or has another version.
    public static var conditionFailed: Self {
        .permanent("Read the file again, and repeat the call with its new version.")
    }
    /// A folder has the name of the file, or a file has the name of one of its folders.
    public static var pathTaken: Self {
        .permanent(
            "Choose another path; this store cannot have a file and a folder with the same name."
        )
    }
    /// The path refers to a symbolic link, a device or a socket instead of a file.
    public static var notAFile: Self {
        .permanent(
            "Replace it with a regular file; stores do not follow links, which may lead outside them."
        )
    }
    /// The file exceeds the memory limit of the call or the maximum size of the store, or its attributes are too large.
    public static var tooLarge: Self {
        .permanent(
            "Read the file with open(_:range:ifVersion:), piece by piece, or raise the limit."
        )
    }
    /// The range begins beyond the end of the file.
    public static var rangeNotSatisfiable: Self {
        .permanent("Request the metadata, and then a range that begins within the file.")
    }
    /// The bytes do not have the expected checksum or length.
    public static var checksumMismatch: Self {
        .permanent("Transfer the file again; the previous file is intact.")
    }
    /// The stored bytes are not those that were written.
    public static var damaged: Self {
        .permanent("Write the file again, or restore it from a backup.")
    }

    // MARK: Call errors

    /// The path is invalid.
    public static var invalidPath: Self {
        .permanent(
            "Correct the path as the message describes; see FileStorePath for the allowed paths."
        )
    }
    /// A value, range or setting is out of bounds.
    public static var invalidArgument: Self {
        .permanent("Correct the call as the message describes; an identical call fails again.")
    }
    /// The store does not support the operation.
    public static var unsupported: Self {
        .permanent("Check the store's capabilities, or choose another store.")
    }
    /// The content of a file can be read only once, and was read before.
    public static var contentConsumed: Self {
        .permanent("Use a FileContent that can be replayed: bytes, or a file on disk.")
    }
    /// The content to write could not be read.
    public static var sourceFailed: Self {
        .permanent("Check the cause; the previous file is intact.")
    }

    // MARK: Store errors

    /// The store could not be read.
    public static var readFailed: Self {
        .permanent("Check the cause and the disk.")
    }
    /// The store could not be written.
    public static var writeFailed: Self {
        .permanent("Check the cause; the previous file is intact.")
    }
    /// The program lacks permission.
    public static var permissionDenied: Self {
        .permanent("Give the program's user permission to read and write the store's folder.")
    }
    /// The disk is full.
    public static var diskFull: Self {
        .permanent("Free disk space; the previous file is intact.")
    }

    // MARK: Transient errors and cancellation

    /// The store did not answer in time.
    public static var timeout: Self {
        .transient("Try again; a change that timed out may have taken effect.")
    }
    /// The store is temporarily unreachable.
    public static var unavailable: Self {
        .transient("Try again later; the cause names the service that did not answer.")
    }
    /// The call was canceled.
    public static var cancelled: Self {
        .permanent("Nothing to do: the caller stopped waiting for the result.")
    }
    /// An unclassified failure; ``FileStoreError/cause`` holds it.
    public static var unknown: Self {
        .permanent("Check the cause, and report it as a missing classification.")
    }

    public static let known: [Self] = [
        .fileNotFound, .conditionFailed, .pathTaken, .notAFile, .tooLarge, .rangeNotSatisfiable,
        .checksumMismatch, .damaged, .invalidPath, .invalidArgument, .unsupported,
        .contentConsumed, .sourceFailed, .readFailed, .writeFailed, .permissionDenied, .diskFull,
        .timeout, .unavailable, .cancelled, .unknown,
    ]
}

extension FileStoreError {
    /// Creates the error for a failed system call on a file; the code is for error numbers without a more specific one.
    init(_ call: String, _ path: String, _ code: Code, number: Int32) {
        let cause = FileSystemError(call, path, number: number)
        let meaning: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .diskFull
            case EACCES, EPERM, EROFS: .permissionDenied
            case ENAMETOOLONG: .invalidPath
            case E2BIG: .tooLarge
            default: code
            }
        self.init(meaning, "The call \(call) for “\(path)” failed.", cause: cause)
    }
}
