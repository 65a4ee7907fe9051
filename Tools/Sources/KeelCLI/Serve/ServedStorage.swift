import ArgumentParser
import KeelStorage
import KeelStorageSQLite

/// Where a server keeps its documents, as the command line names it.
enum ServedStorage: ExpressibleByArgument {
    case memory
    case sqlite(String)

    init?(argument: String) {
        if argument == "memory" {
            self = .memory
        } else if argument.hasPrefix("sqlite:"), argument.count > "sqlite:".count {
            self = .sqlite(String(argument.dropFirst("sqlite:".count)))
        } else {
            return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .memory: "memory"
        case .sqlite(let path): "sqlite:\(path)"
        }
    }
}

/// A store that is open, and what ends it.
struct ServedStore {
    let adapter: any StorageAdapter
    private let sqlite: SQLiteStorageAdapter?

    init(_ storage: ServedStorage) throws(StorageError) {
        switch storage {
        case .memory:
            adapter = InMemoryStorageAdapter()
            sqlite = nil
        case .sqlite(let path):
            let opened = try SQLiteStorageAdapter(at: .file(path))
            adapter = opened
            sqlite = opened
        }
    }

    /// Closes the store's file; what was committed is in it.
    func close() throws(StorageError) { try sqlite?.close() }
}
