internal import Foundation
public import KeelFiles

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
    /// Returns the folder on disk; nil in memory.
    ///
    /// - Parameter name: The subfolder of the app's folder.
    /// - Returns: The folder; nil in memory.
    func folder(_ name: String) -> URL? {
        switch self {
        case .memory: nil
        case .folder(let url): url
        case .applicationSupport(let app): Self.applicationSupport(of: app).appending(path: name)
        }
    }

    /// The app's folder in the user's application data folder.
    static func applicationSupport(of app: String) -> URL {
        // The temporary folder is the fallback on a system without such a folder.
        (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL.temporaryDirectory)
            .appending(path: app)
    }
}
