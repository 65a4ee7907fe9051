#if PostgreSQL
internal import KeelStorageAdapting

extension StorageError {
    static let unconfirmed = StorageError(
        .unavailable,
        "the commit is on the primary, but a standby has not confirmed it",
        effect: .unknown
    )

    static func mapping<Value>(_ body: () throws -> Value) throws(StorageError) -> Value {
        do {
            return try body()
        } catch {
            throw StorageError(mapping: error)
        }
    }

    /// Converts an error; only this initializer gives PostgreSQL's errors their codes.
    ///
    /// The effect is `none`, as for a transaction whose COMMIT was not sent. ``CommitGroup`` finds out the outcome of
    /// others.
    init(mapping error: any Error) {
        switch error {
        case let error as StorageError: self = error
        case let error as DatabaseFailure:
            let (code, message) = Self.classification(of: error)
            self.init(code, message, cause: error)
        case WaitingEnd.cancelled, is CancellationError: self = .cancellation
        case WaitingEnd.timeout:
            self.init(.timeout, "the PostgreSQL server did not answer in time")
        default: self.init(.unknown, "the store failed in an unexpected way", cause: error)
        }
    }

    private static func classification(of failure: DatabaseFailure) -> (Code, String) {
        switch failure.state {
        case "40001", "40P01":
            (.conflict, "the transaction conflicted with another one")
        case "55P03", "55006":
            (.busy, "another program keeps the store’s tables locked")
        case "57014":
            (.timeout, "the PostgreSQL server stopped a statement that took too long")
        case "53300":
            (.busy, "the PostgreSQL server allows no further connections")
        case "53100":
            (.diskFull, "the disk of the PostgreSQL server is full")
        case let state where state.hasPrefix("53"):
            (.unavailable, "the PostgreSQL server lacks memory or another resource")
        case "54000" where failure.file == "async.c":
            (
                .unavailable,
                "the PostgreSQL server’s NOTIFY queue is full until a session ends its transaction"
            )
        case "25006":
            (.unavailable, "the PostgreSQL server accepts no writes at the moment")
        case "42501":
            (.permissionDenied, "the PostgreSQL role lacks a right that Keel needs")
        case "3D000":
            (.invalidArgument, "the PostgreSQL server does not have the database of the URL")
        // They were there when the store was opened.
        case "42P01", "3F000":
            (
                .unavailable,
                "the store’s tables are missing; wait until they are restored, or restore a dump"
            )
        case "XX001", "XX002":
            (.corrupted, "the PostgreSQL server reports damaged data")
        case "54000", "54001":
            (.tooLarge, "a value is larger than PostgreSQL allows")
        case let state where state.hasPrefix("28"):
            (.unauthenticated, "the PostgreSQL server refused the role or its password")
        case let state where state.hasPrefix("08") || state.hasPrefix("57P"):
            (.unavailable, "the PostgreSQL server cannot be reached")
        default:
            failure.isConnectionLost
                ? (.unavailable, "the PostgreSQL server cannot be reached")
                : (.unknown, "PostgreSQL failed with SQLSTATE \(failure.state)")
        }
    }
}
#endif
