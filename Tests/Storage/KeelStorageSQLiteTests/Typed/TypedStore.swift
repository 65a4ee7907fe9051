#if SQLite
import KeelStorage
import KeelStorageSQLite

/// A store to test the typed API on.
enum TypedStore: String, CaseIterable, Sendable {
    case memory, sqlite

    func client(_ configuration: StorageClient.Configuration = .init()) throws -> StorageClient {
        switch self {
        case .memory: StorageClient(InMemoryStorageAdapter(), configuration: configuration)
        case .sqlite:
            StorageClient(try SQLiteStorageAdapter(at: .temporary()), configuration: configuration)
        }
    }
}

struct Account: Codable, Hashable, Identifiable, Sendable {
    @DocumentID var id: String?
    var owner: String
    var balance: Int
    @ServerTimestamp var changed: Timestamp?

    init(_ id: String? = nil, owner: String = "Ada", balance: Int = 0) {
        self._id = DocumentID(wrappedValue: id)
        self.owner = owner
        self.balance = balance
        self._changed = ServerTimestamp(wrappedValue: nil)
    }
}
#endif
