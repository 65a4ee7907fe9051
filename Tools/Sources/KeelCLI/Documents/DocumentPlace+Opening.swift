import Foundation
import KeelAsyncHTTPClient
import KeelCore
import KeelDocumentTools
import KeelStorage
import KeelStorageFirestore
import KeelStorageSQLite
import KeelToolSupport

#if PostgreSQL
import KeelStoragePostgreSQL
#endif

extension DocumentPlace {
    /// Opens the place; a Keel server or Google's receives no request yet.
    ///
    /// - Throws: `ToolError` or `StorageError`.
    func opened(
        for access: StoreAccess,
        _ options: DatabaseOptions
    ) async throws -> OpenedStore {
        switch self {
        case .sqlite(let path):
            let adapter = try SQLiteStorageAdapter.opened(at: path, for: access)
            return OpenedStore(adapter: adapter, indexes: adapter) { try? adapter.close() }
        case .postgreSQL(let url):
            #if PostgreSQL
            let adapter = try await PostgreSQLStorageAdapter.opened(at: url, for: access) {
                if options.unverifiedDatabase { $0.allowsUnverifiedServers = true }
            }
            return OpenedStore(adapter: adapter.retrying(.attempts(4)), indexes: adapter) {
                await adapter.close()
            }
            #else
            _ = url
            throw ToolError.lacksPostgreSQL
            #endif
        case .server(let url):
            let token = ProcessInfo.processInfo.environment["KEEL_TOKEN"]
            let authentication = token.map(FirestoreAuthentication.token) ?? .none
            return Self.remote(.keel(url, authentication: authentication))
        case .firestore(let project):
            return Self.remote(try Self.firestore(project))
        }
    }

    /// Opens the place, runs `body` on it, and closes it.
    func whileOpen<Value>(
        for access: StoreAccess,
        _ options: DatabaseOptions,
        _ body: (OpenedStore) async throws -> Value
    ) async throws -> Value {
        let opened = try await opened(for: access, options)
        do {
            let value = try await body(opened)
            await opened.close()
            return value
        } catch {
            await opened.close()
            throw error
        }
    }

    private static func remote(
        _ configuration: FirestoreStorageAdapter.Configuration
    ) -> OpenedStore {
        let transport = AsyncHTTPClientTransport()
        let adapter = FirestoreStorageAdapter(configuration, transport: transport)
        return OpenedStore(adapter: adapter.retrying(.attempts(4)), indexes: nil) {
            await transport.shutdown()
        }
    }

    /// Returns the emulator that the environment names, otherwise Google with the environment's credentials.
    private static func firestore(
        _ project: String
    ) throws -> FirestoreStorageAdapter.Configuration {
        let environment = ProcessInfo.processInfo.environment
        if let emulator = FirestoreStorageAdapter.Configuration.emulatorFromEnvironment(
            project: project
        ) {
            return emulator
        }
        if let token = environment["GOOGLE_OAUTH_ACCESS_TOKEN"] {
            return .google(project: project, authentication: .token(token))
        }
        guard let path = environment["GOOGLE_APPLICATION_CREDENTIALS"] else {
            throw ToolError(
                "there are no credentials for “\(project)”",
                advice: "Set GOOGLE_APPLICATION_CREDENTIALS to the file of a service account’s "
                    + "key, or GOOGLE_OAUTH_ACCESS_TOKEN to a token."
            )
        }
        let data: Data
        do {
            data = try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError(
                "the key of the service account, “\(path)”, cannot be read: "
                    + ToolError.reason(error),
                advice: "Set GOOGLE_APPLICATION_CREDENTIALS to a file that you may read."
            )
        }
        let key = try ServiceAccountKey(json: data)
        return .google(project: project, authentication: .serviceAccount(key))
    }
}

extension ToolError {
    /// The error of a program that was built without libpq.
    static let lacksPostgreSQL = ToolError(
        "this keel was built without PostgreSQL",
        advice: "In Keel’s repository, run Scripts/setup.sh build and then Scripts/install.sh."
    )
}
