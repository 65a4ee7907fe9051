internal import Foundation
public import KeelFiles

extension KeelConfiguration {
    /// Opens the store of files that the configuration describes.
    ///
    /// - Returns: The app's files.
    /// - Throws: `FileStoreError` when the folder cannot be made or opened.
    public func makeFiles() throws(FileStoreError) -> FileStore {
        guard let folder = fileFolder else { return FileStore(InMemoryFileStoreAdapter()) }
        let path = folder.path(percentEncoded: false)
        return FileStore(try LocalFileStoreAdapter(folder: path))
    }

    private var fileFolder: URL? {
        switch files {
        case .memory: nil
        case .folder(let url): url
        case .applicationSupport(let app):
            // The system names one folder; a system that names none keeps files with passing ones.
            (FileManager.default.urls(for: .applicationSupportDirectory, in: .userDomainMask).first
                ?? URL.temporaryDirectory)
                .appending(path: app).appending(path: "Files")
        }
    }
}
