import Foundation
import Keel
import KeelDependencies
import KeelStoragePostgreSQL
import RestaurantsData
import RestaurantsDomain

/// The app's infrastructure: created once, and read with `@Dependency`.
struct Infrastructure {
    let storage: StorageClient
    let secrets: SecretStore
    let network: NetworkClient
    let location: LocationService

    /// Opens all parts according to the settings.
    init(_ settings: Settings) async throws(DomainError) {
        var keel = KeelConfiguration.production(
            Settings.app,
            api: settings.api,
            schema: .restaurants
        )
        switch settings.store {
        case nil, .postgreSQL: break
        case .memory: keel.storage = .memory
        case .file(let file): keel.storage = .file(file)
        case .server(let address): keel.storage = .server(address)
        }
        do throws(StorageError) {
            storage = try await Self.openStorage(keel, settings)
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
        do throws(SecretError) {
            secrets = try await Self.openSecrets(keel, settings)
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
        network = Self.makeNetwork(keel)
        location = keel.makeLocation()
    }

    /// Sets the parts as the values of `@Dependency`.
    func set(in values: inout DependencyValues) {
        values.storage = storage
        values.secrets = secrets
        values.network = network
        values.location = location
    }

    /// Closes the connections to the service.
    func close() async { await network.transport.shutdown() }

    /// Opens the store of the documents; with a mirror, the app can move to PostgreSQL while it writes.
    private static func openStorage(
        _ keel: KeelConfiguration,
        _ settings: Settings
    ) async throws(StorageError) -> StorageClient {
        if case .postgreSQL(let url) = settings.store {
            return keel.client(on: try await PostgreSQLStorageAdapter(at: .url(url)))
        }
        guard let mirror = settings.mirror, case .file(let file) = settings.store else {
            return try keel.makeStorage()
        }
        let sqlite = try SQLiteStorageAdapter(at: .file(file))
        let postgreSQL = try await PostgreSQLStorageAdapter(at: .url(mirror))
        return keel.client(
            on: sqlite.mirrored(to: postgreSQL) { event in TerminalScreen.log("\(event)") }
        )
    }

    /// Returns the platform's store of secrets, or else an encrypted file, whose key is next to its folder and not in
    /// it.
    private static func openSecrets(
        _ keel: KeelConfiguration,
        _ settings: Settings
    ) async throws(SecretError) -> SecretStore {
        var keel = keel
        if case .memory = settings.store {
            keel.secrets = .memory
            return try keel.makeSecrets()
        }
        let folder = settings.secrets ?? settings.usualSecrets
        let key = folder.deletingLastPathComponent()
            .appending(path: "\(folder.lastPathComponent).key").path(percentEncoded: false)
        let file = SecretFileKey.source(KeyFileSource(path: key))
        guard settings.secrets == nil else {
            keel.secrets = .file(folder, file, service: Settings.app)
            return try keel.makeSecrets()
        }
        return try await SecretStore.platformDefault(
            service: Settings.app,
            fallback: EncryptedFileSecretStoreAdapter(
                folder: folder.path(percentEncoded: false),
                key: file
            )
        )
    }

    private static func makeNetwork(_ keel: KeelConfiguration) -> NetworkClient {
        let usual = keel.makeNetwork()
        var configuration = usual.configuration
        // A user waits at the terminal.
        configuration.timeout = .seconds(15)
        configuration.retry = .attempts(3)
        return NetworkClient(configuration, transport: usual.transport)
    }
}
