import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization

/// An adapter whose servers share records, which a test can lose.
final class SharingStorageAdapter: ForwardingStorageAdapter, SharedRecords {
    let upstream: any StorageAdapter
    private let records = Mutex<[String: SharedRecord]>([:])

    init(_ upstream: any StorageAdapter = InMemoryStorageAdapter()) { self.upstream = upstream }

    var sharedRecords: (any SharedRecords)? { self }

    var recordCount: Int { records.withLock { $0.count } }

    var keys: [String] { records.withLock { Array($0.keys) } }

    /// Loses all records, as after a crash of a database.
    func loseRecords() { records.withLock { $0 = [:] } }

    /// Makes all records older.
    func age(by duration: Duration) {
        records.withLock { records in
            for key in records.keys { records[key]?.age += duration }
        }
    }

    func sharedRecord(_ key: String) -> SharedRecord? { records.withLock { $0[key] } }

    func replaceSharedRecord(
        _ key: String,
        at version: Int64?,
        with content: [UInt8],
        keptFor duration: Duration
    ) -> Bool {
        records.withLock { records in
            guard records[key]?.version == version else { return false }
            var record = records[key] ?? SharedRecord(content: [], version: 0, age: .zero)
            record.content = content
            record.version += 1
            records[key] = record
            return true
        }
    }

    func removeSharedRecord(_ key: String) { records.withLock { $0[key] = nil } }
}
