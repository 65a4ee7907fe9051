/// An adapter that caches the files of a slow store in a fast one.
///
/// Before a cached file is used, one short call compares its version with that in the slow store, so cached files are
/// never stale. A file that is read whole is collected in memory and cached unless it exceeds the limit. A part comes
/// from the fast store only if that has the file; larger files always come from the slow store. Errors of the fast
/// store are ignored.
///
/// ```swift
/// let files = FileStore(remote.cached(in: try LocalFileStoreAdapter(folder: cachesFolder)))
/// ```
///
/// The cache removes only files that are damaged, or replaced or deleted through this adapter: use a folder that the
/// system may empty, or call ``FileStore/deleteAll(in:)``.
public struct CachedFileStoreAdapter<
    Upstream: FileStoreAdapter,
    Cache: FileStoreAdapter
>: FileStoreAdapter {
    private static var attribute: String { "keel-version" }

    fileprivate let upstream: Upstream
    fileprivate let cache: Cache
    fileprivate let limit: Int

    public var capabilities: FileStoreCapabilities { upstream.capabilities }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try await upstream.metadata(of: path)
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        guard let metadata = try await upstream.metadata(of: path) else {
            throw FileStoreError.notFound(path)
        }
        if let version { try FileCondition.version(version).check(path, metadata.version) }
        let bytes = try range.resolved(size: metadata.size)
        if let reading = await keptReading(path, range, metadata) { return reading }
        guard bytes == 0..<metadata.size, metadata.size <= limit else {
            return try await upstream.read(path, range: range, ifVersion: version)
        }
        // This may already be a newer version.
        let reading = try await upstream.read(path, range: .all, ifVersion: version)
        guard reading.metadata.size <= limit else { return reading }
        let content = try await reading.content.collect(upTo: limit)
        // A file that cannot be cached is read again next time.
        _ = try? await cache.write(
            FileContent(content),
            to: path,
            options: FileWriteOptions(
                attributes: [Self.attribute: reading.metadata.version.string]
            )
        )
        return FileReading(
            metadata: reading.metadata,
            range: reading.range,
            content: FileContent(content)
        )
    }

    private func keptReading(
        _ path: FileStorePath,
        _ range: FileRange,
        _ metadata: FileMetadata
    ) async -> FileReading? {
        guard let reading = try? await cache.read(path, range: range, ifVersion: nil),
            reading.metadata.attributes[Self.attribute] == metadata.version.string,
            // After a power failure, a file may have its attributes but not all of its bytes.
            reading.metadata.size == metadata.size
        else { return nil }
        // Read everything before trusting it: the cached file may be damaged while the slow store has it intact.
        guard let bytes = try? await reading.content.collect(upTo: limit) else {
            if !Task.isCancelled { await forget(path) }
            return nil
        }
        return FileReading(metadata: metadata, range: reading.range, content: FileContent(bytes))
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        let metadata = try await upstream.write(content, to: path, options: options)
        await forget(path)
        return metadata
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        let metadata = try await upstream.transfer(request)
        await forget(request.target)
        if request.isMove, request.source != request.target { await forget(request.source) }
        return metadata
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        let wasThere = try await upstream.delete(path, if: condition)
        await forget(path)
        return wasThere
    }

    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        let results = await upstream.deleteEach(paths)
        for path in paths.prefix(results.count) { await forget(path) }
        return results
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        try await upstream.list(request)
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        try await upstream.changes(in: folder)
    }

    /// Removes a cached file to free space; if that fails, its version prevents its use.
    private func forget(_ path: FileStorePath) async {
        _ = try? await cache.delete(path, if: .none)
    }
}

extension FileStoreAdapter {
    /// Caches files of at most `limit` bytes in a fast store, which must support attributes.
    public func cached<Cache: FileStoreAdapter>(
        in cache: Cache,
        upTo limit: Int = FileStore.defaultLimit
    ) -> CachedFileStoreAdapter<Self, Cache> {
        CachedFileStoreAdapter(upstream: self, cache: cache, limit: limit)
    }
}
