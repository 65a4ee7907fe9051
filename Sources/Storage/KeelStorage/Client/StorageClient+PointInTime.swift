public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Returns a read-only client for the state of the store at a given time.
    ///
    /// ```swift
    /// let before = try storage.asOf(receipt.commitTime)
    /// let deleted = try await before.getDocument("notes/1")
    /// ```
    ///
    /// Pass a `CommitReceipt/commitTime`, the result of ``currentTime()``, or any time in between. The state at a time
    /// after the store's last change is not final: a commit in progress can get an earlier time.
    ///
    /// Reads throw `StorageError/Code/snapshotTooOld` for a time that the store's history does not reach, and
    /// `StorageError/Code/invalidArgument` for a time in the future. Writes and transactions throw
    /// `StorageError/Code/readOnly`. A listener gets exactly one snapshot.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer `StorageCapabilities/pointInTimeReads`.
    public func asOf(_ time: Timestamp) throws(StorageError) -> StorageClient {
        try require(.pointInTimeReads, for: "asOf")
        return StorageClient(
            StorageView(upstream: adapter, kind: .past(time)),
            configuration: configuration,
            preparation: preparation
        )
    }

    /// Returns the commit time of the store's last change, for ``asOf(_:)``.
    ///
    /// - Throws: `StorageError/Code/unsupported` if the adapter does not offer `StorageCapabilities/pointInTimeReads`,
    ///   or the store keeps no history.
    @concurrent
    public func currentTime() async throws(StorageError) -> Timestamp {
        try require(.pointInTimeReads, for: "currentTime")
        var request = ReadRequest(.documents([]))
        request.needsTime = true
        guard let time = try await read(request, for: "currentTime").time else {
            throw StorageError(
                .unsupported,
                "the store keeps no history, or does not report commit times",
                operation: "currentTime"
            )
        }
        return time
    }
}
