internal import Foundation
public import KeelCache

extension KeelConfiguration {
    /// Opens the caches that the configuration describes: one budget and one folder for all.
    ///
    /// A folder belongs to one program at a time. A second one, such as an extension of the app,
    /// takes a folder of its own, or catches `folderInUse` and goes on in memory.
    ///
    /// In memory the caches together hold 64 MiB of values unless the configuration says otherwise;
    /// `CacheLimits.bytes(_:)` says what a value counts. The folder has ``cacheByteLimit``.
    ///
    /// - Parameter configuration: The limits of all caches together in memory, and their times.
    /// - Returns: The store that caches are had from.
    /// - Throws: `CacheError` when the folder cannot be opened.
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
            // The system names one folder; a system that names none keeps caches with other data.
            (FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask).first
                ?? URL.temporaryDirectory)
                .appending(path: app).appending(path: "KeelCache")
        }
    }
}
