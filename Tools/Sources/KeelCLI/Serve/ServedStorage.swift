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
        if argument == "memory" {
            self = .memory
        } else if argument.hasPrefix("sqlite:"), argument.count > "sqlite:".count {
            self = .sqlite(String(argument.dropFirst("sqlite:".count)))
        } else if case .postgreSQL(let url)? = DocumentPlace(argument) {
            self = .postgreSQL(url: url)
        } else {
            return nil
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

/// An open store.
struct ServedStore {
    let adapter: any StorageAdapter
    /// Returns the metrics of the store in Prometheus's text format; nil if it has none.
    let metrics: (@Sendable () async -> String)?
    /// Closes the store, which then has all commits.
    let close: () async throws -> Void

    init(
        _ storage: ServedStorage,
        history: ServedHistory?,
        log: RetentionOptions,
        durability: ServedDurability,
        allowsUnverifiedDatabase: Bool,
        databaseReaders: Int
    ) async throws {
        switch storage {
        case .memory:
            adapter = InMemoryStorageAdapter(history: history?.age)
            metrics = nil
            close = {}
        case .sqlite(let path):
            var configuration = SQLiteStorageAdapter.Configuration()
            configuration.history = history?.age
            configuration.retention = log.retention
            configuration.durability = durability.sqlite
            let opened = try SQLiteStorageAdapter(at: .file(path), configuration: configuration)
            adapter = opened
            metrics = nil
            close = { try opened.close() }
        case .postgreSQL(let url):
            #if PostgreSQL
            let opened = try await PostgreSQLStorageAdapter.opened(at: url, for: .creating) {
                $0.history = history?.age
                $0.retention = log.retention
                if allowsUnverifiedDatabase { $0.allowsUnverifiedServers = true }
                $0.readerCount = databaseReaders
            }
            // The database may restart while the server runs.
            adapter = opened.retrying(.attempts(4))
            metrics = { await opened.metricsText(label: "default") }
            close = { await opened.close() }
            #else
            _ = (url, allowsUnverifiedDatabase, databaseReaders)
            throw ToolError.lacksPostgreSQL
            #endif
        }
    }
}
