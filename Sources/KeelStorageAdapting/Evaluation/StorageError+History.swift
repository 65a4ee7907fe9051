package import KeelDocuments

extension StorageError {
    /// Returns the error for a read as of a time before the store's history.
    package static func snapshotTooOld(_ time: Timestamp) -> Self {
        Self(.snapshotTooOld, "the store’s history does not reach back to \(time.rfc3339)")
    }

    /// Returns the error for a read as of a time in the future.
    package static func notYet(_ time: Timestamp, present: Timestamp) -> Self {
        Self(
            .invalidArgument,
            "\(time.rfc3339) has not come yet: read a time up to \(present.rfc3339), the store’s own"
        )
    }
}
