internal import Foundation
public import KeelDependencies
public import KeelStorage

/// The dependency key of document storage.
///
/// The live value is a store in the user's application data folder, under the process's name; to
/// use a schema or another place, set a client in the composition root:
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
        let error = StorageError(
            .unavailable,
            "the test sets no storage: use withDependencies { $0.storage = … } or the trait"
        )
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
