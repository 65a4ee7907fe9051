package import KeelDocuments

extension StorageError {
    package static func snapshotTooOld(_ time: Timestamp) -> Self {
        Self(.snapshotTooOld, "the store’s history does not reach back to \(time.rfc3339)")
    }

    package static func notYet(_ time: Timestamp, present: Timestamp) -> Self {
        Self(
            .invalidArgument,
            "\(time.rfc3339) is in the future; the latest readable time is \(present.rfc3339)"
        )
    }
}
