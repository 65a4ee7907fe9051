internal import Foundation
public import KeelCache

extension KeelConfiguration {
    /// Opens the configured caches, with a shared budget and folder.
    ///
    /// Only one program at a time can use a folder. Another program, such as an extension of the
    /// app, needs its own folder, or catches `folderInUse` and continues in memory.
    ///
    /// In memory the caches hold 64 MiB of values in total by default; `CacheLimits.bytes(_:)`
    /// explains how values are counted. The folder is limited by ``cacheByteLimit``.
    ///
    /// - Parameter configuration: The limits of all caches in memory, and their expiration.
    /// - Returns: The store of the caches.
    /// - Throws: `CacheError` if the folder cannot be opened.
    public func makeCaches(
        _ configuration: CacheConfiguration = CacheConfiguration(limits: .bytes(64 << 20))
    ) throws(CacheError) -> CacheStore {
        guard let folder = cacheFolder else { return CacheStore(configuration) }
        let tier = try DiskCacheTier(
            at: folder,
            configuration: DiskCacheTier.Configuration(byteLimit: cacheByteLimit)
        )
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
