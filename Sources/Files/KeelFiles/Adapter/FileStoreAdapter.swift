/// A type that stores files.
///
/// Apps use ``FileStore``; adapters implement only this protocol, because the store has already validated paths,
/// options and limits. An adapter promises that
///
/// - a completed change is visible to every later call, from any task;
/// - a change is atomic: readers see the old file or the new one, and a call that throws leaves the old file unless its
///   error says that the outcome is unknown;
/// - a reader reads one version to its end, or throws;
/// - listings are in byte order of the paths, and paging does not miss a file that exists throughout;
/// - calls check for cancellation, at the latest between two pieces of a file.
///
/// Run `FileStoreCheck` from `KeelConformance` against every new adapter.
public protocol FileStoreAdapter: Sendable {
    /// The capabilities of the store.
    var capabilities: FileStoreCapabilities { get }

    /// Returns the metadata of a file, or nil if it does not exist.
    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata?

    /// Begins to read a range of a file, if it has the expected version; the bytes are read on demand.
    ///
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `rangeNotSatisfiable`.
    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading

    /// Writes a file, replacing an existing one, and returns its metadata.
    ///
    /// - Throws: ``FileStoreError``: `conditionFailed`, `checksumMismatch`, `pathTaken`.
    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata

    /// Copies or moves a file, with its content type and attributes.
    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata

    /// Removes a file if it meets a condition.
    ///
    /// - Returns: Whether the file existed.
    /// - Throws: ``FileStoreError``: `conditionFailed`.
    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool

    /// Removes several files unconditionally.
    ///
    /// Implement this method if the store can remove many files with one request; the default removes them one by one.
    ///
    /// - Returns: One result per path, in order: whether the file existed, or why it still exists. A store that does
    ///   not know whether a file existed reports that it did. After an error, the results can end early: the remaining
    ///   paths were not tried.
    func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>]

    /// Returns a page of a listing.
    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage

    /// Observes changes of files in a folder and its subfolders, from now on.
    ///
    /// - Throws: ``FileStoreError`` with the code `unsupported` if the store cannot observe changes.
    func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges
}

extension FileStoreAdapter {
    /// Removes files one by one, up to the first error.
    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        await deleteOneByOne(paths)
    }

    /// Removes files one by one, up to the first error.
    package func deleteOneByOne(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        var results: [Result<Bool, FileStoreError>] = []
        for path in paths {
            do throws(FileStoreError) {
                try FileStoreError.checkCancellation()
                results.append(.success(try await delete(path, if: .none)))
            } catch {
                return results + [.failure(error)]
            }
        }
        return results
    }

    /// Throws `unsupported`.
    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        throw FileStoreError(.unsupported, "The store cannot report changes.")
    }
}
