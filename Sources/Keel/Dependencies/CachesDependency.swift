internal import Foundation
public import KeelCache
public import KeelDependencies

/// The dependency key of the app's caches.
///
/// Its live value is a store in the user's folder for caches, under the process's name, or in memory
/// where another process has that folder or it cannot be used. A test and a preview have one in
/// memory, each test its own.
///
/// ```swift
/// let caches = try keel.makeCaches(CacheConfiguration(limits: .bytes(64 << 20)))
/// try await withDependencies { $0.caches = caches } operation: { try await run() }
/// ```
public enum CachesDependency: DependencyKey, Sendable {
    public static var liveValue: CacheStore {
        let keel = KeelConfiguration.production(ProcessInfo.processInfo.processName)
        // A cache may forget at any moment, so one in memory keeps every promise.
        return (try? keel.makeCaches()) ?? inMemory
    }

    public static var testValue: CacheStore { inMemory }

    public static var previewValue: CacheStore { inMemory }

    /// A store with the budget that `makeCaches` gives by default.
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
