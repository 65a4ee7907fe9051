#if SQLite
internal import GRDB
public import KeelStorageAdapting

extension SQLiteStorageAdapter {
    /// The result of ``reseal(onProgress:)``.
    public typealias ResealReport = KeelStorageAdapting.ResealReport

    /// Seals everything in the file that is under a former key of ``Configuration/sealing`` with the present one.
    ///
    /// When a pass has resealed nothing and found nothing unreadable, the store no longer needs former keys, and they
    /// can be disabled:
    ///
    /// ```swift
    /// while try await adapter.reseal().resealed > 0 {}
    /// ```
    ///
    /// The second pass finds what other programs wrote under the former key meanwhile. A pass changes neither revisions
    /// nor times, and reports no changes to listeners. It works in steps of at most 500 items, between which commits
    /// proceed. Cancellation keeps the steps so far.
    ///
    /// - Parameter onProgress: Receives the counts after each step.
    /// - Returns: The counts of the pass.
    /// - Throws: `StorageError/Code/invalidArgument` for a store without a key, `StorageError/Code/permissionDenied` if
    ///   the key is not available, and errors of the file.
    @discardableResult
    public func reseal(
        onProgress: (@Sendable (ResealReport) -> Void)? = nil
    ) async throws(StorageError) -> ResealReport {
        do throws(StorageError) {
            try sealing.checkIsSealed()
            try await maintaining { [sealing] database in
                try StoreProof(sealing, in: database).renewInTransaction()
            }
            var report = ResealReport()
            for table in Resealing.allCases {
                var last: Int64? = 0
                while let start = last {
                    let known = report
                    (report, last) = try await maintaining { [self] database in
                        // An attempt that found the file locked has been rolled back.
                        var report = known
                        let last = try table.step(after: start, in: database, for: self, &report)
                        return (report, last)
                    }
                    onProgress?(report)
                }
            }
            return report
        } catch {
            throw error.during("reseal")
        }
    }
}
#endif
