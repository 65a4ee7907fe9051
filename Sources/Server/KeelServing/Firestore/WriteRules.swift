import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// The validation of writes before they reach the store.
enum WriteRules {
    /// The maximum revision of a replica; those based on time do not reach it before the year 73,000.
    private static let highestRevision: Int64 = 1 << 61

    /// Rejects a batch that violates a rule of the data model, or requires a capability that the store lacks.
    static func check(
        _ batch: WriteBatch,
        _ reserved: ReservedNames,
        for capabilities: StorageCapabilities
    ) throws(StorageError) {
        let own = reserved.allowsOwn ? batch.writes.filter { reserved.isOwn($0.path) } : []
        let others = own.isEmpty ? batch.writes : batch.writes.filter { !reserved.isOwn($0.path) }
        try WriteValidation.check(others, own: own)
        for write in batch.writes {
            try reserved.check(write.path)
            guard case .replicate(let document) = write.operation else { continue }
            try require(.replication, of: capabilities, for: "a replica")
            try DocumentValidation.check(document.body, of: document.path)
            guard (1...highestRevision).contains(document.revision.number) else {
                throw FirestoreDecoding.flaw("the revision of a replica is out of range")
            }
        }
        if let id = batch.id {
            try require(.idempotentCommits, of: capabilities, for: "an id of a batch")
            guard (1...StoredName.longest).contains(id.utf8.count) else {
                throw FirestoreDecoding.flaw("the id of a batch has 1 to 1,500 bytes")
            }
        }
        if batch.origin != nil { try require(.origins, of: capabilities, for: "an origin") }
        guard let reads = batch.reads else { return }
        try require(.transactions, of: capabilities, for: "a transaction")
        for read in reads.documents { try reserved.check(read.path) }
        for read in reads.queries {
            try reserved.check(read.query.scope)
            // The commit runs it again. Unchecked, a small filter could have billions of alternatives.
            _ = try QueryValidation.checked(read.query)
            for found in read.found { try reserved.check(found.path) }
        }
    }

    private static func require(
        _ needed: StorageCapabilities,
        of capabilities: StorageCapabilities,
        for purpose: String
    ) throws(StorageError) {
        guard capabilities.contains(needed) else {
            throw StorageError(.unsupported, "\(purpose) needs a store that offers \(needed)")
        }
    }
}
