internal import Foundation
public import KeelDependencies
public import KeelFiles

/// The dependency key of the app's files.
///
/// The live value is a folder named after the process in the user's application data folder; to use
/// another place, set a store in the composition root:
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
        let error = FileStoreError(
            .unavailable,
            "the test sets no files: use withDependencies { $0.files = … } or the trait"
        )
        return unset(standIn: FileStore(unavailable: error))
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
