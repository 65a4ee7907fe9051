public import KeelFiles

/// A file store adapter that records its calls and forwards them.
///
/// ```swift
/// let recorded = InMemoryFileStoreAdapter().recorded()
/// try await FileStore(recorded).delete("a")
/// #expect(recorded.callCount(of: .delete) == 1)
/// ```
///
/// A call is recorded first, whatever the outcome. Copies share one record.
public struct RecordedFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    fileprivate let upstream: Upstream
    private let memory = CallMemory<FileStoreCall>()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [FileStoreCall] { memory.all }

    /// The number of calls.
    public var callCount: Int { memory.all.count }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: FileStoreCall.Kind) -> Int {
        memory.all.count { $0.kind == kind }
    }

    /// Forgets the calls so far.
    public func forget() { memory.forget() }

    // MARK: Adapter

    public var capabilities: FileStoreCapabilities { upstream.capabilities }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        memory.add(.metadata(path))
        return try await upstream.metadata(of: path)
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        memory.add(.read(path, range))
        return try await upstream.read(path, range: range, ifVersion: version)
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        memory.add(.write(path, options))
        return try await upstream.write(content, to: path, options: options)
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        memory.add(.transfer(request))
        return try await upstream.transfer(request)
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        memory.add(.delete(path, if: condition))
        return try await upstream.delete(path, if: condition)
    }

    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        for path in paths { memory.add(.delete(path, if: .none)) }
        return await upstream.deleteEach(paths)
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        memory.add(.list(request))
        return try await upstream.list(request)
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        memory.add(.changes(folder))
        return try await upstream.changes(in: folder)
    }
}

extension FileStoreAdapter {
    /// Records the calls; see ``RecordedFileStoreAdapter``.
    public func recorded() -> RecordedFileStoreAdapter<Self> {
        RecordedFileStoreAdapter(upstream: self)
    }
}
