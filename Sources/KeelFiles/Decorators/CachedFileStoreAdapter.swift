/// An adapter that keeps what was read from a slow store in a fast one.
///
/// Before a kept file is used its version is compared with that of the slow store, which is one
/// short call; so a kept file is never an old one. A file that is read whole is taken into memory
/// and kept, unless it is too large; parts and larger files come from the slow store each time. What
/// the fast store fails at is not kept, and fails no call.
///
/// ```swift
/// let files = FileStore(remote.cached(in: try LocalFileStoreAdapter(folder: cachesFolder)))
/// ```
///
/// Nothing is removed from the fast store by itself but what was replaced or deleted through this
/// adapter: give it a folder that the system may empty, or call ``FileStore/deleteAll(in:)``.
public struct CachedFileStoreAdapter<
    Upstream: FileStoreAdapter,
    Kept: FileStoreAdapter
>: FileStoreAdapter {
    private static var attribute: String { "keel-version" }

    private let upstream: Upstream
    private let kept: Kept
    private let limit: Int

    /// Creates the decorator; `adapter.cached(in:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The slow store, which has the last word.
    ///   - kept: The fast store; it must keep attributes.
    ///   - limit: How many bytes a file has at most that is kept.
    public init(_ upstream: Upstream, in kept: Kept, upTo limit: Int = FileStore.usualLimit) {
        self.upstream = upstream
        self.kept = kept
        self.limit = limit
    }

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
        // Of whatever version it has by now.
        let reading = try await upstream.read(path, range: .all, ifVersion: version)
        guard reading.metadata.size <= limit else { return reading }
        let content = try await reading.content.collect(upTo: limit)
        // What cannot be kept is read again next time.
        _ = try? await kept.write(
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

    /// The kept bytes, where they are of this version.
    private func keptReading(
        _ path: FileStorePath,
        _ range: FileRange,
        _ metadata: FileMetadata
    ) async -> FileReading? {
        guard let reading = try? await kept.read(path, range: range, ifVersion: nil),
            reading.metadata.attributes[Self.attribute] == metadata.version.string
        else { return nil }
        // All of it, before it is trusted: it may be damaged, and the slow store has it whole.
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

    /// Makes room; a kept file that stays is not used, because its version is another.
    private func forget(_ path: FileStorePath) async { _ = try? await kept.delete(path, if: .none) }
}

extension FileStoreAdapter {
    /// Keeps what was read in a fast store; see ``CachedFileStoreAdapter``.
    ///
    /// - Parameters:
    ///   - kept: The fast store; it must keep attributes.
    ///   - limit: How many bytes a file has at most that is kept.
    /// - Returns: The adapter, with what was read kept.
    public func cached<Kept: FileStoreAdapter>(
        in kept: Kept,
        upTo limit: Int = FileStore.usualLimit
    ) -> CachedFileStoreAdapter<Self, Kept> {
        CachedFileStoreAdapter(self, in: kept, upTo: limit)
    }
}
