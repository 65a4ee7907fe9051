#if SQLite
internal import Foundation
internal import GRDB
internal import KeelStorageAdapting

extension StorageError {
    static func mapping<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try body()
        } catch {
            throw StorageError(mapping: error)
        }
    }

    /// Converts an error; the only place where SQLite's errors get their codes.
    ///
    /// A failed transaction has been rolled back, so the effect is `none`. Only if writing the commit itself failed,
    /// part of it may have reached the disk.
    init(mapping error: any Error) {
        switch error {
        case let error as StorageError: self = error
        case let error as DatabaseError: self.init(error)
        case is CancellationError: self = .cancellation
        default: self.init(.unknown, "the store failed in an unexpected way", cause: error)
        }
    }

    static var replaced: StorageError {
        StorageError(
            .closed,
            "another file has replaced the store’s; close the adapter, and open the store again"
        )
    }

    private init(_ error: DatabaseError) {
        let (code, message) = Self.classification(of: error)
        // GRDB's error contains the SQL but not the arguments, and therefore no contents.
        let isUncertain = error.resultCode == .SQLITE_IOERR && error.sql.map(Self.isCommit) ?? false
        self.init(code, message, effect: isUncertain ? .unknown : .none, cause: error)
    }

    private static func isCommit(_ sql: String) -> Bool { sql.uppercased().hasPrefix("COMMIT") }

    private static func classification(of error: DatabaseError) -> (Code, String) {
        switch error.resultCode {
        case .SQLITE_NOTADB:
            (.corrupted, "the file is not an SQLite database, or its beginning is damaged")
        case .SQLITE_CORRUPT:
            (.corrupted, "the store’s file is damaged")
        case .SQLITE_FULL:
            (.diskFull, "the disk is full")
        // The index of the write-ahead log could not grow.
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHMSIZE:
            (.diskFull, "the disk is full")
        case .SQLITE_IOERR where error.extendedResultCode == .SQLITE_IOERR_SHORT_READ:
            (.corrupted, "the store’s file is shorter than it should be")
        case .SQLITE_IOERR:
            (
                .unavailable,
                "the disk reported an error (SQLite \(error.extendedResultCode.rawValue))"
            )
        case .SQLITE_READONLY, .SQLITE_PERM, .SQLITE_AUTH:
            (.readOnly, "the store’s file or folder cannot be written to")
        // SQLite does not say why. Without free file descriptors, no other file can be opened either.
        case .SQLITE_CANTOPEN where FileHandle(forReadingAtPath: "/dev/null") == nil:
            (.unavailable, "the process has too many open files; close some, or raise its limit")
        case .SQLITE_CANTOPEN:
            (.readOnly, "the store’s file cannot be opened or created in its folder")
        // The last: other connections have opened and closed the log each time that SQLite tried to.
        case .SQLITE_BUSY, .SQLITE_LOCKED, .SQLITE_PROTOCOL:
            (.busy, "the store’s file is locked by another program")
        case .SQLITE_MISUSE:
            (.closed, "the store has been closed")
        case .SQLITE_TOOBIG:
            (.tooLarge, "a value is larger than SQLite allows")
        case .SQLITE_INTERRUPT, .SQLITE_ABORT:
            (.cancelled, "the call was canceled while reading")
        case .SQLITE_NOMEM:
            (.unavailable, "there is not enough memory")
        default:
            (.unknown, "SQLite failed with code \(error.extendedResultCode.rawValue)")
        }
    }
}

extension DatabaseError {
    var isBusy: Bool { resultCode == .SQLITE_BUSY || resultCode == .SQLITE_LOCKED }
}
#endif
