internal import Foundation
public import KeelCache
public import KeelDependencies

/// The dependency key of the app's caches.
///
/// The live value is a store in the user's caches folder, under the process's name; or in memory,
/// if that folder is in use or not accessible. Tests and previews have a store in memory.
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
