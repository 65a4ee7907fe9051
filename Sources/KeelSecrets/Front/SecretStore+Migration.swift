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
    /// - Parameter destination: The other store; its service may be another one.
    /// - Returns: What became of each key.
    /// - Throws: ``SecretError``; what was not moved is still here.
    public func migrate(to destination: SecretStore) async throws(SecretError) -> SecretMigration {
        var report = SecretMigration()
        let keys = try await list()
        guard !keys.isEmpty else { return report }
        try await checkIsAnother(destination)
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
    private func checkIsAnother(_ destination: SecretStore) async throws(SecretError) {
        let mark = "keel-migration-" + String(UInt64.random(in: .min ... .max), radix: 16)
        try await destination.save("", forKey: mark)
        let isSame = try await exists(forKey: mark)
        try await destination.delete(forKey: mark)
        guard !isSame else {
            throw SecretError(.invalidArgument, "The secrets of \(service) are there already.")
        }
    }
}
