import ArgumentParser
import KeelCore
import KeelDocumentTools
import KeelStorage
import KeelStorageSQLite
import KeelTelemetryTools
import KeelToolSupport

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

/// The storage of a server, as an argument.
enum ServedStorage: ExpressibleByArgument {
    case memory
    case sqlite(String)
    /// A PostgreSQL database, at a URL that may contain a password.
    case postgreSQL(url: String)

    init?(argument: String) {
        switch DocumentPlace(argument) {
        case .sqlite(let path)?: self = .sqlite(path)
        case .postgreSQL(let url)?: self = .postgreSQL(url: url)
        case nil where argument == "memory": self = .memory
        case .server?, .firestore?, nil: return nil
        }
    }

    var defaultValueDescription: String {
        switch self {
        case .memory: "memory"
        case .sqlite(let path): "sqlite:\(path)"
        case .postgreSQL(let url): Passwords.hidden(in: url)
        }
    }
}

/// The age of the oldest state that a server can read, as an argument; zero for none.
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

/// The open stores of a server.
struct ServedStores {
    /// The store of the default database.
    let adapter: any StorageAdapter
    /// The stores of the other databases; nil if all have the same.
    let databases: [String: any StorageAdapter]?
    /// Returns the metrics of the stores in Prometheus's text format; nil if they have none.
    let metrics: (@Sendable () async -> String)?
    /// The stores that build indexes in the background.
    let indexed: [any IndexedStore]
    let close: () async throws -> Void

    /// Opens the stores of a server; `names` are the PostgreSQL stores of databases besides the default one.
    ///
    /// - Throws: `ToolError` or `StorageError`.
    init(
        _ storage: ServedStorage,
        databases names: [String],
        history: ServedHistory?,
        log: RetentionOptions,
        durability: ServedDurability,
        allowsUnverifiedDatabase: Bool,
        databaseReaders: Int
    ) async throws {
        switch storage {
        case .memory:
            adapter = InMemoryStorageAdapter(history: history?.age)
            databases = nil
            metrics = nil
            indexed = []
            close = {}
        case .sqlite(let path):
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.history = history?.age
            configuration.retention = log.retention
            configuration.durability = durability.sqlite
            let opened = try SQLiteStorageAdapter(at: .file(path), configuration: configuration)
            adapter = opened
            databases = nil
            metrics = nil
            indexed = [opened]
            close = { try opened.close() }
        case .postgreSQL(let url):
            #if PostgreSQL
            func open(_ name: String?) async throws -> PostgreSQLStorageAdapter {
                try await PostgreSQLStorageAdapter.opened(at: url, for: .creating) {
                    if let name { $0.store = name }
                    $0.history = history?.age
                    $0.retention = log.retention
                    if allowsUnverifiedDatabase { $0.allowsUnverifiedServers = true }
                    $0.readerCount = databaseReaders
                }
            }
            let first = try await open(nil)
            var opened = [(label: StoreAddress(url).store, adapter: first)]
            var others: [String: any StorageAdapter] = [:]
            for name in names {
                let adapter = try await open(name)
                opened.append((name, adapter))
                others[name] = adapter.retrying(.attempts(4))
            }
            let all = opened
            // The database may restart while the server runs.
            adapter = first.retrying(.attempts(4))
            databases = others
            metrics = { await PostgreSQLStorageAdapter.metricsText(all) }
            indexed = all.map { $0.adapter }
            close = { for store in all { await store.adapter.close() } }
            #else
            _ = (url, names, allowsUnverifiedDatabase, databaseReaders)
            throw ToolError.lacksPostgreSQL
            #endif
        }
    }
}
