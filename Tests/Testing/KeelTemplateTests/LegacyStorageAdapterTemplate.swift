import KeelStorageAdapting
import Synchronization

// A template of an adapter over an SDK that knows keys and records. Copy it, replace LegacyRecords with your SDK, and
// run StorageAdapterCheck on the result.

/// A storage adapter over a legacy SDK's records.
///
/// | capability | offered |
/// |---|---|
/// | all | no: listeners poll, the front computes aggregates, transactions are refused |
final class LegacyStorageAdapter: StorageAdapter {
    private let store: Mutex<(sdk: LegacyRecords, lastRevision: Int64)>

    init(_ sdk: sending LegacyRecords) { store = Mutex((sdk, 0)) }

    var capabilities: StorageCapabilities { [] }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try store.withLock { store throws(StorageError) in
            switch request.operation {
            case .documents(let paths):
                return ReadResult(.documents(paths.map(store.sdk.document)))
            case .query(let query):
                let all = store.sdk.list().compactMap { store.sdk.document(at: DocumentPath($0)) }
                return ReadResult(.found(try StorageEvaluator.result(of: query, among: all)))
            case .aggregate, .collections:
                throw StorageError(.unsupported, "a legacy store has no such read")
            }
        }
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        store.withLock { store in
            batches.map { batch in
                Result { () throws(StorageError) in
                    // Revisions always grow, even when the system's clock is set back.
                    let now = Timestamp.now()
                    let revision = max(now.microseconds, store.lastRevision + 1)
                    store.lastRevision = revision + Int64(batch.writes.count)
                    let current = batch.writes.compactMap { store.sdk.document(at: $0.path) }
                    let outcome = try StorageEvaluator.apply(
                        batch,
                        to: current,
                        at: .init(time: now, revision: revision)
                    )
                    for document in outcome.stored { store.sdk.put(document) }
                    for path in outcome.removed { store.sdk.remove(path.string) }
                    return outcome.receipt
                }
            }
        }
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "a legacy store keeps no change log")
    }
}

/// Conversions between documents and the SDK's records.
extension LegacyRecords {
    fileprivate func document(at path: DocumentPath) -> Document? {
        guard let record = get(path.string) else { return nil }
        return Document(
            path: path,
            body: DocumentBody(bytes: record.bytes),
            revision: Revision(number: record.revision),
            createTime: Timestamp(microseconds: record.created),
            updateTime: Timestamp(microseconds: record.updated)
        )
    }

    fileprivate func put(_ document: Document) {
        let record = LegacyRecord(
            bytes: document.body.bytes,
            revision: document.revision.number,
            created: document.createTime.microseconds,
            updated: document.updateTime.microseconds
        )
        put(document.path.string, record)
    }
}

// MARK: The SDK

struct LegacyRecord {
    var bytes: [UInt8]
    var revision: Int64
    var created: Int64
    var updated: Int64
}

/// The imaginary SDK: a dictionary, from a time before tasks and documents.
final class LegacyRecords {
    private var records: [String: LegacyRecord] = [:]

    func get(_ key: String) -> LegacyRecord? { records[key] }
    func put(_ key: String, _ record: LegacyRecord) { records[key] = record }
    func remove(_ key: String) { records[key] = nil }
    func list() -> [String] { Array(records.keys) }
}
