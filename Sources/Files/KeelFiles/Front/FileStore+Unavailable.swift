extension FileStore {
    /// Creates a store whose valid calls all throw the given error, for code that expects a store where none is
    /// available.
    public init(unavailable error: FileStoreError) {
        self.init(UnavailableFileStoreAdapter(error: error))
    }
}

private struct UnavailableFileStoreAdapter: FileStoreAdapter {
    let error: FileStoreError

    var capabilities: FileStoreCapabilities { [] }

    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata? {
        throw error
    }

    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        throw error
    }

    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        throw error
    }

    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata {
        throw error
    }

    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        throw error
    }

    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage { throw error }

    func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        throw error
    }
}
