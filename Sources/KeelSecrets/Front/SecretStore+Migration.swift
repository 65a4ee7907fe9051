#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What a migration did, by keys.
public struct SecretMigration: Hashable, Sendable {
    /// Copied, verified, and deleted where they came from.
    public var moved: [String] = []
    /// There already with the same bytes, and deleted where they came from.
    public var present: [String] = []
    /// There already with other bytes; both stores were left as they are.
    public var conflicting: [String] = []

    /// Creates an empty report.
    public init() {}
}

extension SecretStore {
    /// Moves every secret of this service to another store: copies, verifies, then deletes.
    ///
    /// A secret is deleted here only after it was read back from there, and only if nobody changed
    /// it meanwhile. It can be repeated after a failure or a crash: what was copied already counts
    /// as present. Nothing that the other store held is replaced. Moving to the same store, under
    /// another adapter too, is refused.
    ///
    /// To find that out, it puts a secret called `keel-migration-…` into the other store for a moment.
    /// One that a crash has left there is removed by the next migration from or to that store, once it
    /// is an hour old.
    ///
    /// - Parameter destination: The other store; its service may be another one.
    /// - Returns: What became of each key.
    /// - Throws: ``SecretError``; what was not moved is still here.
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
            guard let data = try await findData(forKey: key) else { continue }
            let isNew = try await destination.compareAndSet(
                forKey: key,
                expected: nil,
                new: data
            )
            guard try await destination.findData(forKey: key) == data else {
                guard isNew else {
                    report.conflicting.append(key)
                    continue
                }
                throw SecretError(.saveFailed, "The copy of \(key) is not what was copied.")
            }
            guard try await compareAndSet(forKey: key, expected: data, new: nil) else {
                report.conflicting.append(key)
                continue
            }
            if isNew { report.moved.append(key) } else { report.present.append(key) }
        }
        return report
    }

    /// Refuses a destination that shows the same secrets, where every copy would be the original.
    ///
    /// Asked of the stores themselves: two adapters can have the same file or service below them.
    private func checkIsAnother(
        _ destination: SecretStore,
        _ now: Date
    ) async throws(SecretError) {
        let mark = MigrationMark.key()
        try await destination.save(MigrationMark.text(at: now), forKey: mark)
        let (isSame, isThere): (Bool, Bool)
        do throws(SecretError) {
            isSame = try await exists(forKey: mark)
            // Asked last: a mark that is still there was there when this store was asked.
            isThere = try await destination.exists(forKey: mark)
        } catch {
            try? await destination.delete(forKey: mark)
            throw error
        }
        try await destination.delete(forKey: mark)
        guard !isSame else {
            throw SecretError(.invalidArgument, "The secrets of \(service) are there already.")
        }
        guard isThere else {
            throw SecretError(.saveFailed, "What was put into the other store for a check is gone.")
        }
    }

    /// Removes the marks of migrations that a crash has ended.
    ///
    /// - Parameter now: The time. Another program may need a young mark still.
    /// - Returns: The keys that are left.
    /// - Throws: What the store throws.
    private func removeOldMarks(_ now: Date) async throws(SecretError) -> [String] {
        var keys: [String] = []
        for key in try await list() {
            guard MigrationMark.isOne(key),
                let mark = try await findData(forKey: key),
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

/// The secret by which a migration finds out whether two stores are one; it holds when it was made.
private enum MigrationMark {
    private static let prefix = "keel-migration-"
    private static let lifetime: TimeInterval = 3600

    static func key() -> String {
        prefix + String(UInt64.random(in: .min ... .max), radix: 16)
    }

    static func isOne(_ key: String) -> Bool { key.hasPrefix(prefix) }

    static func text(at time: Date) -> String { String(Int64(time.timeIntervalSince1970)) }

    /// Whether nobody needs it any more; one that says no time, or one to come, is nobody's either.
    static func isOld(_ text: String, _ now: Date) -> Bool {
        guard let made = TimeInterval(text) else { return true }
        return abs(now.timeIntervalSince1970 - made) >= lifetime
    }
}
