import Foundation
import HTTPTypes
import Keel
import KeelDependencies
import KeelTestKit
import Testing

/// Examples from the comments of Keel; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func filesDependency() async throws {
        let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/notes/files"))
        try await withDependencies {
            $0.files = files
        } operation: {
            try await run()
        }
        _ = files
    }

    static func locationDependency(_ harbour: LocationFix, _ island: LocationFix) async throws {
        let location = LocationService(ScriptedLocationAdapter(.fixes([harbour, island])))
        try await withDependencies {
            $0.location = location
        } operation: {
            try await run()
        }
        _ = location
    }

    static func secretsDependency(_ file: EncryptedFileSecretStoreAdapter) async throws {
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        try await withDependencies {
            $0.secrets = secrets
        } operation: {
            try await run()
        }
        _ = secrets
    }

    static func storageDependency(_ schema: StorageSchema) async throws {
        let storage = try KeelConfiguration.production("Notes", schema: schema).makeStorage()
        try await withDependencies {
            $0.storage = storage
        } operation: {
            try await run()
        }
        _ = storage
    }

    static func users(
        _ session: AuthSession<BearerCredentials>,
        _ outbox: Outbox,
        _ caches: CacheStore,
        _ memory: ResourceMemory,
        _ loader: ResourceLoader,
        _ analytics: AnalyticsService
    ) async throws {
        session.clearAtSignOut(outbox: outbox, caches: caches, memory: memory, analytics: analytics)
        try await session.restore()
        var work = BackgroundWork()
        work.add(session, notifying: loader, retrying: outbox)
        _ = work
    }

    static func keelConfiguration(_ apiAddress: URL, _ schema: StorageSchema) async throws {
        let keel = KeelConfiguration.production("Notes", api: apiAddress, schema: schema)
        let storage = try keel.makeStorage()
        let network = keel.makeNetwork()
        let caches = try keel.makeCaches()
        let files = try keel.makeFiles()
        let secrets = try keel.makeSecrets()
        let location = keel.makeLocation()
        _ = keel
        _ = storage
        _ = network
        _ = caches
        _ = files
        _ = secrets
        _ = location
    }
}
