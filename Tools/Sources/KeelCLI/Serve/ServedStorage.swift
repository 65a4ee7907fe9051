import ArgumentParser
import KeelStorage
import KeelStorageSQLite
import KeelTelemetryTools

/// The storage of a server, as an argument.
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

/// The age of the oldest state that a server can read, as an argument.
struct ServedHistory: ExpressibleByArgument {
    let age: Duration

    init?(argument: String) {
        guard argument != "none" else {
            age = .zero
            return
        }
        guard let seconds = LogMoment.seconds(argument), seconds > 0 else { return nil }
        age = .seconds(seconds)
    }
}

/// The failures that an acknowledged commit survives, as an argument.
enum ServedDurability: String, ExpressibleByArgument, CaseIterable {
    case power, process

    var sqlite: SQLiteStorageAdapter.Configuration.Durability {
        switch self {
        case .power: .power
        case .process: .process
        }
    }
}

/// An open store and the function that closes it.
struct ServedStore {
    let adapter: any StorageAdapter
    private let sqlite: SQLiteStorageAdapter?

    init(
        _ storage: ServedStorage,
        history: ServedHistory?,
        retention: SQLiteStorageAdapter.Configuration.Retention,
        durability: ServedDurability
    ) throws(StorageError) {
        switch storage {
        case .memory:
            adapter = InMemoryStorageAdapter(history: history?.age)
            sqlite = nil
        case .sqlite(let path):
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.history = history?.age
            configuration.retention = retention
            configuration.durability = durability.sqlite
            let opened = try SQLiteStorageAdapter(at: .file(path), configuration: configuration)
            adapter = opened
            sqlite = opened
        }
    }

    /// Closes the store's file, which then has all commits.
    func close() throws(StorageError) { try sqlite?.close() }
}
