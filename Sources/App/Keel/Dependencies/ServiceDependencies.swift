internal import Foundation
public import KeelAnalytics
public import KeelCache
public import KeelDependencies
public import KeelFiles
public import KeelHTTP
public import KeelLocation
public import KeelSecrets
public import KeelStorage

/// The dependency key of the app's web service.
///
/// Set a client in the composition root; until then every call fails.
public enum NetworkDependency: DependencyKey, Sendable {
    public static var liveValue: NetworkClient {
        unavailable("the app sets no network: use withDependencies { $0.network = … }")
    }

    public static var testValue: NetworkClient { unset(standIn: unavailable(notSet("network"))) }

    public static var previewValue: NetworkClient {
        unavailable("a preview has no network: use withDependencies { $0.network = … }")
    }

    private static func unavailable(_ reason: String) -> NetworkClient {
        .unavailable(TransportError(.invalidRequest, reason, processed: .no))
    }
}

extension DependencyValues {
    /// The app's web service.
    public var network: NetworkClient {
        get { self[NetworkDependency.self] }
        set { self[NetworkDependency.self] = newValue }
    }
}

/// The dependency key of document storage.
///
/// The live value is a store in the user's application data folder, under the process's name, without a schema; to
/// change that, set a client in the composition root:
///
/// ```swift
/// let storage = try KeelConfiguration.production("Notes", schema: schema).makeStorage()
/// try await withDependencies { $0.storage = storage } operation: { try await run() }
/// ```
public enum StorageDependency: DependencyKey, Sendable {
    public static var liveValue: StorageClient {
        do throws(StorageError) {
            return try KeelConfiguration.production(ProcessInfo.processInfo.processName)
                .makeStorage()
        } catch {
            // Reading a dependency cannot throw; instead, each call reports the error.
            return StorageClient(UnavailableStorageAdapter(error))
        }
    }

    public static var testValue: StorageClient {
        let error = StorageError(.unavailable, notSet("storage"))
        return unset(standIn: StorageClient(UnavailableStorageAdapter(error)))
    }

    public static var previewValue: StorageClient { StorageClient(InMemoryStorageAdapter()) }
}

extension DependencyValues {
    /// Document storage.
    public var storage: StorageClient {
        get { self[StorageDependency.self] }
        set { self[StorageDependency.self] = newValue }
    }
}

/// The dependency key of the app's caches.
///
/// The live value is a store in the user's caches folder, under the process's name, or in memory if that folder is in
/// use or not accessible. Tests and previews have a store in memory.
///
/// ```swift
/// let caches = try keel.makeCaches(CacheConfiguration(limits: .bytes(64 << 20)))
/// try await withDependencies { $0.caches = caches } operation: { try await run() }
/// ```
public enum CachesDependency: DependencyKey, Sendable {
    public static var liveValue: CacheStore {
        let keel = KeelConfiguration.production(ProcessInfo.processInfo.processName)
        // A cache may lose values at any time, so one in memory keeps every promise.
        return (try? keel.makeCaches()) ?? inMemory
    }

    public static var testValue: CacheStore { inMemory }

    public static var previewValue: CacheStore { inMemory }

    /// A store with the default budget of `makeCaches`.
    private static var inMemory: CacheStore {
        CacheStore(CacheConfiguration(limits: .bytes(64 << 20)))
    }
}

extension DependencyValues {
    /// The app's caches.
    public var caches: CacheStore {
        get { self[CachesDependency.self] }
        set { self[CachesDependency.self] = newValue }
    }
}

/// The dependency key of the app's files.
///
/// The live value is the folder `Files` in the user's application data folder for the process's name; to use another
/// place, set a store in the composition root:
///
/// ```swift
/// let files = FileStore(try LocalFileStoreAdapter(folder: "/var/lib/notes/files"))
/// try await withDependencies { $0.files = files } operation: { try await run() }
/// ```
public enum FilesDependency: DependencyKey, Sendable {
    public static var liveValue: FileStore {
        do throws(FileStoreError) {
            return try KeelConfiguration.production(ProcessInfo.processInfo.processName)
                .makeFiles()
        } catch {
            // Reading a dependency cannot throw; instead, each call reports the error.
            return FileStore(unavailable: error)
        }
    }

    public static var testValue: FileStore {
        unset(standIn: FileStore(unavailable: FileStoreError(.unavailable, notSet("files"))))
    }

    public static var previewValue: FileStore { FileStore(InMemoryFileStoreAdapter()) }
}

extension DependencyValues {
    /// The app's files.
    public var files: FileStore {
        get { self[FilesDependency.self] }
        set { self[FilesDependency.self] = newValue }
    }
}

/// The dependency key of the app's secrets.
///
/// The live value is the platform's store, under the process's name, opened on first use; to use
/// another place or service, set a store in the composition root:
///
/// ```swift
/// let secrets = try await SecretStore.platformDefault(service: "com.example.notes", fallback: file)
/// try await withDependencies { $0.secrets = secrets } operation: { try await run() }
/// ```
public enum SecretsDependency: DependencyKey, Sendable {
    public static var liveValue: SecretStore {
        do throws(SecretError) {
            return try KeelConfiguration.production(ProcessInfo.processInfo.processName)
                .makeSecrets()
        } catch {
            // Reading a dependency cannot throw; instead, each call reports the error.
            return SecretStore(unavailable: error)
        }
    }

    public static var testValue: SecretStore {
        unset(standIn: SecretStore(unavailable: SecretError(.unavailable, notSet("secrets"))))
    }

    public static var previewValue: SecretStore {
        SecretStore(InMemorySecretStoreAdapter(), of: "preview")
    }
}

extension DependencyValues {
    /// The app's secrets.
    public var secrets: SecretStore {
        get { self[SecretsDependency.self] }
        set { self[SecretsDependency.self] = newValue }
    }
}

/// The dependency key of the device's position.
///
/// The live value is the platform's source: Core Location on Apple platforms, the local gpsd elsewhere. Previews stay
/// in one place; tests set a track:
///
/// ```swift
/// let location = LocationService(ScriptedLocationAdapter(.fixes([harbour, island])))
/// try await withDependencies { $0.location = location } operation: { try await run() }
/// ```
public enum LocationDependency: DependencyKey, Sendable {
    public static var liveValue: LocationService { .platformDefault() }

    public static var testValue: LocationService {
        // Not a transient error, which a call would wait for.
        let error = LocationError(.unsupported, notSet("location"))
        return unset(standIn: LocationService(unavailable: error))
    }

    public static var previewValue: LocationService {
        LocationService(ScriptedLocationAdapter(.preview))
    }
}

extension DependencyValues {
    /// The device's position.
    public var location: LocationService {
        get { self[LocationDependency.self] }
        set { self[LocationDependency.self] = newValue }
    }
}

/// The dependency key of the analytics service.
///
/// The live value keeps events in memory, without destinations: set one in the composition root.
///
/// ```swift
/// let analytics = try keel.makeAnalytics(destinations)
/// try await withDependencies { $0.analytics = analytics } operation: { try await run() }
/// ```
///
/// Tests and previews have a service in memory, one per test.
public enum AnalyticsDependency: DependencyKey, Sendable {
    public static var liveValue: AnalyticsService { inMemory }

    public static var testValue: AnalyticsService { inMemory }

    public static var previewValue: AnalyticsService { inMemory }

    private static var inMemory: AnalyticsService {
        do throws(AnalyticsError) {
            return try .inMemory()
        } catch {
            preconditionFailure("An empty configuration was refused: \(error.message)")
        }
    }
}

extension DependencyValues {
    /// The analytics service.
    public var analytics: AnalyticsService {
        get { self[AnalyticsDependency.self] }
        set { self[AnalyticsDependency.self] = newValue }
    }
}

private func notSet(_ name: String) -> String {
    "the test sets no \(name): use withDependencies { $0.\(name) = … } or the trait"
}
