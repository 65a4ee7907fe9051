internal import Foundation
public import KeelFiles

extension KeelConfiguration {
    /// Opens the store of files that the configuration describes.
    ///
    /// - Returns: The app's files.
    /// - Throws: `FileStoreError` when the folder cannot be made or opened.
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
    /// The folder on the disk, if there is to be one.
    ///
    /// - Parameter name: What it is called in the folder of an app.
    /// - Returns: The folder; nil in memory.
    func folder(_ name: String) -> URL? {
        switch self {
        case .memory: nil
        case .folder(let url): url
        case .applicationSupport(let app): Self.applicationSupport(of: app).appending(path: name)
        }
    }

    /// The folder of an app in the user's folder for application data.
    static func applicationSupport(of app: String) -> URL {
        // The system names one folder; a system that names none keeps files with passing ones.
        (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
            ?? URL.temporaryDirectory)
            .appending(path: app)
    }
}
