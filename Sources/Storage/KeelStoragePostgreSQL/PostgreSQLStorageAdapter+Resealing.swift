#if PostgreSQL
public import KeelStorageAdapting

extension PostgreSQLStorageAdapter {
    /// The result of ``reseal(onProgress:)``.
    public typealias ResealReport = KeelStorageAdapting.ResealReport

    /// Seals everything in the store that is under a former key of ``Configuration/sealing`` with the present one.
    ///
    /// When a pass has resealed nothing and found nothing unreadable, the store no longer needs the former keys. A pass
    /// changes neither revisions nor times. It works in steps of at most 500 items and about 4 MiB, between which
    /// commits proceed; cancellation and failures keep the steps so far. Records that servers share keep their key
    /// until they expire.
    ///
    /// - Parameter onProgress: Receives the counts after each step.
    /// - Returns: The counts of the pass.
    /// - Throws: `StorageError/Code/invalidArgument` for a store without a key, `StorageError/Code/permissionDenied` if
    ///   the key is not available, and errors of the database.
    @discardableResult
    public func reseal(
        onProgress: (@Sendable (ResealReport) -> Void)? = nil
    ) async throws(StorageError) -> ResealReport {
        do throws(StorageError) {
            try store.sealing.checkIsSealed()
            try await maintaining { snapshot, _ in try ResealPlace.renewProof(in: snapshot) }
            var report = ResealReport()
            var place: ResealPlace? = .documents(after: 0)
            while let start = place {
                let known = report
                (report, place) = try await maintaining { snapshot, _ in
                    var report = known
                    let next = try start.step(in: snapshot, &report)
                    return (report, next)
                }
                onProgress?(report)
            }
            return report
        } catch {
            throw error.during("reseal")
        }
    }
}
#endif
