#if Logging

/// The rotation of a log file, and the retention of rotated files.
public struct LogFileConfiguration: Sendable {
    /// The period after which a new file begins.
    public enum Period: Sendable, Hashable {
        /// Every hour, in UTC.
        case hour
        /// Every day, in UTC.
        case day
        /// At every multiple of this many seconds since 1970, from 1 second to 400 days.
        case seconds(Int)

        var length: Int64 {
            switch self {
            case .hour: 3600 * 1_000_000
            case .day: 86_400 * 1_000_000
            case .seconds(let seconds): Int64(clamping: seconds) * 1_000_000
            }
        }
    }

    /// The maximum size of one file in bytes, at least 1 KiB; nil for no limit.
    ///
    /// A longer record gets a file of its own. If several processes write to one file, it can exceed the limit by an
    /// eighth per process.
    public var byteLimit: Int? = 10 << 20
    /// The period after which a new file begins; nil for none.
    public var period: Period?
    /// The maximum number of rotated files; nil for no limit.
    public var countLimit: Int?
    /// The maximum size in bytes of all files, at least ``byteLimit``; nil for no limit.
    ///
    /// The current file counts with at least ``byteLimit``. Files beyond the limit are removed in the background.
    public var totalByteLimit: Int? = 100 << 20
    /// The maximum age of a rotated file; nil for no limit.
    ///
    /// Old files are removed at rotations and launches, once two of these have found a file too old. The two are at
    /// least an hour apart, or a quarter of a shorter limit, so a clock that is years ahead for a while removes
    /// nothing.
    public var ageLimit: Duration?
    /// Whether rotated files are compressed as `.gz` (RFC 1952).
    public var compresses = true
    /// The format of the records.
    public var format = LogFormat.jsonLines
    /// The POSIX permissions of new files, between `0o600` and `0o664`, such as `0o640` for a collector in the file's
    /// group.
    ///
    /// The process's `umask` removes bits. Users who can read the files can also enter newly created folders. Existing
    /// files and folders keep their permissions.
    public var permissions: UInt16 = 0o600

    /// Creates the default configuration: files of 10 MiB, 100 MiB in total, compressed JSON lines.
    public init() {}

    func check() throws(LoggingError) {
        if let byteLimit, byteLimit < 1024 {
            throw Self.invalid("byteLimit must be at least 1 KiB, but is \(byteLimit) bytes")
        }
        if let period, period.length < 1_000_000 || period.length > 400 * 86_400 * 1_000_000 {
            throw Self.invalid("A period must be between one second and 400 days")
        }
        if let countLimit, countLimit < 0 {
            throw Self.invalid("countLimit must be at least 0, but is \(countLimit)")
        }
        if let totalByteLimit, totalByteLimit < byteLimit ?? 1024 {
            throw Self.invalid(
                "totalByteLimit must be at least byteLimit, but is \(totalByteLimit)"
            )
        }
        if let ageLimit, ageLimit <= .zero {
            throw Self.invalid("ageLimit must be positive, but is \(ageLimit)")
        }
        guard permissions & 0o600 == 0o600, permissions & ~0o664 == 0 else {
            let octal = String(permissions, radix: 8)
            throw Self.invalid(
                "permissions must let the owner read and write, no user execute, and not everyone write: "
                    + "0o600 to 0o664, but are 0o\(octal)"
            )
        }
    }

    private static func invalid(_ message: String) -> LoggingError {
        LoggingError(.invalidArgument, message)
    }
}

#endif
