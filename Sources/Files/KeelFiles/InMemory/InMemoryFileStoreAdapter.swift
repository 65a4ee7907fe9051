internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An adapter that keeps files in memory, for tests, previews and disposable data.
///
/// As in ``LocalFileStoreAdapter``, a path is a file or a folder, never both.
public final class InMemoryFileStoreAdapter: FileStoreAdapter {
    private struct Stored {
        var bytes: [UInt8]
        var metadata: FileMetadata
    }

    private struct State {
        var files: [FileStorePath: Stored] = [:]
        /// The number of files in each folder and its subfolders.
        var folders: [FileStorePath: Int] = [:]
        var lastVersion = 0
        var inboxes: [ObjectIdentifier: WeakInbox] = [:]
    }

    private struct WeakInbox {
        weak var inbox: FileChangeInbox?
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Date

    /// Creates an empty store with a clock for the times of new files.
    public init(now: @escaping @Sendable () -> Date = { Date.now }) { self.now = now }

    public var capabilities: FileStoreCapabilities {
        [.attributes, .watching, .distinguishesCase, .distinctVersions]
    }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        state.withLock { $0.files[path]?.metadata }
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        guard let stored = state.withLock({ $0.files[path] }) else {
            throw FileStoreError.notFound(path)
        }
        let metadata = stored.metadata
        if let version { try FileCondition.version(version).check(path, metadata.version) }
        let bytes = try range.resolved(size: metadata.size)
        let part = bytes.count == stored.bytes.count ? stored.bytes : Array(stored.bytes[bytes])
        return FileReading(metadata: metadata, range: bytes, content: FileContent(part))
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        var hash = try FileHash(options.checksum?.algorithm ?? .crc32c)
        var bytes: [UInt8] = []
        let reader = try await content.open()
        while let piece = try await reader.next() {
            try FileStoreError.checkCancellation()
            hash.update(piece)
            bytes += piece
        }
        try FileStoreError.checkCancellation()
        try FileIntegrityCheck.check(bytes.count, hash.checksum, of: content, options, path)
        let time = now()
        let new = Stored(
            bytes: bytes,
            metadata: FileMetadata(
                FileSummary(
                    path: path,
                    size: bytes.count,
                    modified: time,
                    version: FileVersion("")
                ),
                contentType: options.contentType ?? ContentTypes.type(of: path),
                attributes: options.attributes,
                checksum: hash.checksum
            )
        )
        let (metadata, inboxes) = try state.withLock { state throws(FileStoreError) in
            try options.condition.check(path, state.files[path]?.metadata.version)
            try Self.checkPlace(path, state)
            let metadata = Self.keep(new, at: path, time, &state)
            return (metadata, state.inboxes.values.compactMap(\.inbox))
        }
        for inbox in inboxes { inbox.tell(.written(path)) }
        return metadata
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        let time = now()
        let (metadata, inboxes) = try state.withLock { state throws(FileStoreError) in
            guard let source = state.files[request.source] else {
                throw FileStoreError.notFound(request.source)
            }
            try request.condition.check(
                request.target,
                state.files[request.target]?.metadata.version
            )
            if request.isMove, request.source == request.target {
                return (source.metadata, [FileChangeInbox]())
            }
            try Self.checkPlace(request.target, state)
            if request.isMove { Self.remove(request.source, &state) }
            let metadata = Self.keep(source, at: request.target, time, &state)
            return (metadata, state.inboxes.values.compactMap(\.inbox))
        }
        for inbox in inboxes {
            if request.isMove { inbox.tell(.removed(request.source)) }
            inbox.tell(.written(request.target))
        }
        return metadata
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        let (wasThere, inboxes) = try state.withLock { state throws(FileStoreError) in
            try condition.check(path, state.files[path]?.metadata.version)
            guard state.files[path] != nil else { return (false, [FileChangeInbox]()) }
            Self.remove(path, &state)
            return (true, state.inboxes.values.compactMap(\.inbox))
        }
        for inbox in inboxes { inbox.tell(.removed(path)) }
        return wasThere
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        let files = state.withLock { $0.files.values.map(\.metadata.summary) }
        return FilePage(of: files, for: request)
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        let inbox = FileChangeInbox(folder)
        state.withLock { state in
            state.inboxes = state.inboxes.filter { $0.value.inbox != nil }
            state.inboxes[ObjectIdentifier(inbox)] = WeakInbox(inbox: inbox)
        }
        return FileChanges(inbox)
    }

    // MARK: Changes under the lock

    private static func keep(
        _ file: Stored,
        at path: FileStorePath,
        _ time: Date,
        _ state: inout State
    ) -> FileMetadata {
        state.lastVersion += 1
        var file = file
        file.metadata.summary = FileSummary(
            path: path,
            size: file.bytes.count,
            modified: time,
            version: FileVersion("\(state.lastVersion)")
        )
        if state.files[path] == nil {
            for folder in path.foldersAbove { state.folders[folder, default: 0] += 1 }
        }
        state.files[path] = file
        return file.metadata
    }

    private static func checkPlace(
        _ path: FileStorePath,
        _ state: State
    ) throws(FileStoreError) {
        if state.folders[path] != nil { throw FileStoreError.taken(path) }
        for folder in path.foldersAbove where state.files[folder] != nil {
            throw FileStoreError.taken(path)
        }
    }

    private static func remove(_ path: FileStorePath, _ state: inout State) {
        state.files[path] = nil
        for folder in path.foldersAbove {
            let count = state.folders[folder, default: 1] - 1
            state.folders[folder] = count == 0 ? nil : count
        }
    }
}

extension FileStoreError {
    package static func taken(_ path: FileStorePath) -> FileStoreError {
        FileStoreError(.pathTaken, "“\(path)” is a folder or inside a file.")
    }
}
