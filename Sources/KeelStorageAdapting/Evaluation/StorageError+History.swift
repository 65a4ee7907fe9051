package import KeelDocuments

extension StorageError {
    package static func snapshotTooOld(_ time: Timestamp) -> Self {
        Self(.snapshotTooOld, "the store’s history does not reach back to \(time.rfc3339)")
    }

    package static func notYet(_ time: Timestamp, present: Timestamp) -> Self {
        Self(
            .invalidArgument,
            "\(time.rfc3339) has not come yet: read a time up to \(present.rfc3339), the store’s own"
        )
    }
}
