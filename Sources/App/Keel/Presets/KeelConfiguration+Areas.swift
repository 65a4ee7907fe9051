internal import Foundation
public import KeelAnalytics
public import KeelCache
public import KeelFiles

extension KeelConfiguration {
    /// Opens the configured caches, with a shared budget and folder.
    ///
    /// Only one program at a time can use the folder. Another program, such as an app extension, caches in memory only,
    /// and ``observer`` receives an `open` that failed with `folderInUse`.
    ///
    /// By default, the caches together hold 64 MiB of values in memory (`CacheLimits.bytes(_:)`). ``cacheByteLimit``
    /// limits the folder.
    ///
    /// - Parameter configuration: The limits of all caches in memory, and their expiration.
    /// - Returns: The store of the caches.
    /// - Throws: `CacheError` if the folder cannot be opened.
    public func makeCaches(
        _ configuration: CacheConfiguration = CacheConfiguration(limits: .bytes(64 << 20))
    ) throws(CacheError) -> CacheStore {
        guard let folder = cacheFolder else { return CacheStore(configuration) }
        let tier: DiskCacheTier
        do throws(CacheError) {
            tier = try DiskCacheTier(
                at: folder,
                configuration: DiskCacheTier.Configuration(byteLimit: cacheByteLimit)
            )
        } catch {
            guard error.code == .folderInUse else { throw error }
            if let observer {
                observer(KeelObservation(.caches, "open", failure: error.code.name))
            }
            return CacheStore(configuration)
        }
        guard let observer else { return CacheStore(configuration, over: tier) }
        return CacheStore(configuration, over: tier.observed { observer(KeelObservation($0)) })
    }

    private var cacheFolder: URL? {
        switch caches {
        case .memory: nil
        case .folder(let url): url
        case .cachesFolder(let app):
            // The temporary folder is the fallback on a system without a caches folder.
            (FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
                ?? URL.temporaryDirectory)
                .appending(path: app).appending(path: "KeelCache")
        }
    }
}

extension KeelConfiguration {
    /// Opens the analytics service, in the ``analytics`` folder or in memory.
    ///
    /// Events wait until the user consents and you run the service. One program at a time delivers the events of a
    /// folder; others, such as an app extension, only track, with the same user and consent.
    ///
    /// - Throws: `AnalyticsError` if the folder cannot be opened.
    public func makeAnalytics(
        _ configuration: AnalyticsConfiguration = AnalyticsConfiguration()
    ) throws(AnalyticsError) -> AnalyticsService {
        var configuration = configuration
        if let observer {
            let inner = configuration.observer
            configuration.observer = { observation in
                inner?(observation)
                observer(KeelObservation(observation))
            }
        }
        guard let folder = analytics.folder("Analytics") else {
            return try .inMemory(configuration)
        }
        return try AnalyticsService(at: folder, configuration: configuration)
    }
}

extension KeelConfiguration {
    /// Opens the configured file store.
    ///
    /// - Returns: The app's files.
    /// - Throws: `FileStoreError` if the folder cannot be created or opened.
    public func makeFiles() throws(FileStoreError) -> FileStore {
        guard let folder = files.folder("Files") else {
            return store(on: InMemoryFileStoreAdapter())
        }
        let path = folder.path(percentEncoded: false)
        return store(on: try LocalFileStoreAdapter(folder: path))
    }

    private func store(on adapter: some FileStoreAdapter) -> FileStore {
        guard let observer else { return FileStore(adapter) }
        return FileStore(adapter.observed { observer(KeelObservation($0)) })
    }
}

extension KeelConfiguration.FileLocation {
    func folder(_ name: String) -> URL? {
        switch self {
        case .memory: nil
        case .folder(let url): url
        case .applicationSupport(let app): Self.applicationSupport(of: app).appending(path: name)
        }
    }

    static func applicationSupport(of app: String) -> URL {
        // The temporary folder is the fallback on a system without such a folder.
        (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL.temporaryDirectory)
            .appending(path: app)
    }
}
