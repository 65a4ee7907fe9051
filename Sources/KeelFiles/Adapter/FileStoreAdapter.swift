/// A type that keeps files.
///
/// Apps use ``FileStore``; adapters implement this protocol and nothing more: the front has checked
/// paths, options and limits. An adapter promises that
///
/// - a change that returned is seen by every later call, from any task;
/// - a file is there whole or not at all: who reads finds the old or the new one, and a call that
///   throws leaves what was there, unless its error says that the outcome is unknown;
/// - a reader that has begun reads one version to its end, or throws;
/// - what is listed is in the order of the paths' bytes, and a list by pages misses nothing that is
///   there all the time;
/// - calls look at the task's cancellation, between two pieces of a file at the latest.
///
/// Run `FileStoreCheck` from `KeelConformance` against every new adapter.
public protocol FileStoreAdapter: Sendable {
    /// What the store can do.
    var capabilities: FileStoreCapabilities { get }

    /// Returns what is known of a file, nil where there is none.
    func metadata(of path: FileStorePath) async throws(FileStoreError) -> FileMetadata?

    /// Begins to read a file.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - range: Which part of it.
    ///   - version: The version that it must have; nil is any.
    /// - Returns: The metadata, and the bytes as they are asked for.
    /// - Throws: ``FileStoreError``: `fileNotFound`, `conditionFailed`, `rangeNotSatisfiable`.
    func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading

    /// Puts a file, in place of what was there.
    ///
    /// - Parameters:
    ///   - content: The bytes.
    ///   - path: The file.
    ///   - options: What is kept with it, and what is checked.
    /// - Returns: The metadata of the new file.
    /// - Throws: ``FileStoreError``: `conditionFailed`, `checksumMismatch`, `pathTaken`.
    func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata

    /// Makes a file of another one, with its content type and attributes.
    func transfer(_ request: FileTransferRequest) async throws(FileStoreError) -> FileMetadata

    /// Removes a file, when it is as expected.
    ///
    /// - Parameters:
    ///   - path: The file.
    ///   - condition: What has to be true of it.
    /// - Returns: Whether there was one.
    /// - Throws: ``FileStoreError``: `conditionFailed`.
    func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool

    /// Removes several files, whatever they are.
    ///
    /// Implement it where the store removes many with one request; otherwise they are removed one by one.
    ///
    /// - Parameter paths: The files.
    /// - Returns: A result for each path, in their order: whether there was a file, or why it is still there.
    ///   After an error the results may end early; the remaining paths were not tried. A store that cannot
    ///   tell says that there was a file.
    func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>]

    /// Lists files.
    func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage

    /// Follows the changes of files in a folder and the folders inside of it, from now on.
    ///
    /// - Parameter folder: The folder.
    /// - Returns: The changes.
    /// - Throws: ``FileStoreError`` with the code `unsupported` where the store cannot tell.
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

    /// Says that the store cannot tell of changes.
    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        throw FileStoreError(.unsupported, "The store cannot tell of changes.")
    }
}
