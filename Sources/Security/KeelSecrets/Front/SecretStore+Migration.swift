#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The result of a migration, by key.
public struct SecretMigration: Hashable, Sendable {
    /// The keys that were copied, verified and deleted from the source.
    public var moved: [String] = []
    /// The keys that already had the same bytes in the destination, and were deleted from the source.
    public var alreadyPresent: [String] = []
    /// The keys with different bytes in the destination, or whose secret changed meanwhile in the source.
    ///
    /// Repeat the migration for the latter. Neither store has changed.
    public var conflicting: [String] = []

    /// Creates an empty report.
    public init() {}
}

extension SecretStore {
    /// Moves every secret of this service to another store: copies, verifies, then deletes.
    ///
    /// A secret is deleted from the source only after it was read back from the destination, and only if it has not
    /// changed meanwhile. Existing secrets of the destination are never replaced. After a failure or crash, repeat the
    /// migration.
    ///
    /// To detect that both stores are the same, the migration briefly saves a secret named `keel-migration-…` in the
    /// destination. If a crash leaves it behind, a later migration removes it once it is an hour old.
    ///
    /// - Parameter destination: The other store, which can have another service.
    /// - Returns: The result for each key.
    /// - Throws: ``SecretError``, with the code `invalidArgument` if the destination is the same store, even through
    ///   another adapter. Secrets that were not moved are still in the source.
    public func migrate(to destination: SecretStore) async throws(SecretError) -> SecretMigration {
        try await migrate(to: destination, now: Date())
    }

    func migrate(
        to destination: SecretStore,
        now: Date
    ) async throws(SecretError) -> SecretMigration {
        var report = SecretMigration()
        let keys = try await removeOldMarks(now).filter { !MigrationMark.isOne($0) }
        guard !keys.isEmpty else { return report }
        _ = try await destination.removeOldMarks(now)
        try await checkIsAnother(destination, now)
        for key in keys {
            guard let data = try await loadIfPresent(forKey: key) else { continue }
            let isNew = try await destination.compareAndSet(
                forKey: key,
                expected: nil,
                new: data
            )
            guard try await destination.loadIfPresent(forKey: key) == data else {
                guard isNew else {
                    report.conflicting.append(key)
                    continue
                }
                throw SecretError(.saveFailed, "The copy of \(key) differs from the original.")
            }
            guard try await compareAndSet(forKey: key, expected: data, new: nil) else {
                // A copy that stays would be out of date, or bring back a secret that was deleted.
                if isNew {
                    _ = try await destination.compareAndSet(forKey: key, expected: data, new: nil)
                }
                report.conflicting.append(key)
                continue
            }
            if isNew { report.moved.append(key) } else { report.alreadyPresent.append(key) }
        }
        return report
    }

    /// Refuses a destination that shows the same secrets: two adapters may share a file or service.
    private func checkIsAnother(
        _ destination: SecretStore,
        _ now: Date
    ) async throws(SecretError) {
        let mark = MigrationMark.key()
        try await destination.save(MigrationMark.text(at: now), forKey: mark)
        let (isSame, isThere): (Bool, Bool)
        do throws(SecretError) {
            isSame = try await exists(forKey: mark)
            // Checked last: if the mark still exists now, it existed when this store was checked.
            isThere = try await destination.exists(forKey: mark)
        } catch {
            try? await destination.delete(forKey: mark)
            throw error
        }
        try await destination.delete(forKey: mark)
        guard !isSame else {
            throw SecretError(
                .invalidArgument,
                "The secrets of \(service) are already in that store."
            )
        }
        guard isThere else {
            throw SecretError(
                .saveFailed,
                "The marker that was written to the other store as a check has disappeared."
            )
        }
    }

    /// Removes the marks that crashed migrations left behind, except recent ones, and returns the remaining keys.
    private func removeOldMarks(_ now: Date) async throws(SecretError) -> [String] {
        var keys: [String] = []
        for key in try await list() {
            guard MigrationMark.isOne(key),
                let mark = try await loadIfPresent(forKey: key),
                MigrationMark.isOld(String(decoding: mark, as: UTF8.self), now)
            else {
                keys.append(key)
                continue
            }
            try await delete(forKey: key)
        }
        return keys
    }
}

/// The secret by which a migration detects that two stores are one; its text is its creation time.
private enum MigrationMark {
    private static let prefix = "keel-migration-"
    private static let lifetime: TimeInterval = 3600

    static func key() -> String {
        prefix + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    static func isOne(_ key: String) -> Bool { key.hasPrefix(prefix) }

    static func text(at time: Date) -> String { String(Int64(time.timeIntervalSince1970)) }

    /// Returns whether a mark has expired; one without a valid time counts as expired.
    static func isOld(_ text: String, _ now: Date) -> Bool {
        guard let made = TimeInterval(text) else { return true }
        return abs(now.timeIntervalSince1970 - made) >= lifetime
    }
}
