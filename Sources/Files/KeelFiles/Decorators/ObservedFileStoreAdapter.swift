internal import KeelCore
internal import Synchronization

/// A record of one call to a file store.
public struct FileStoreObservation: Hashable, Sendable {
    /// The operations of a store.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Loads the metadata of a file.
        case metadata
        /// Reads a file, to the end of the range or as far as its reader goes.
        case read
        /// Writes a file.
        case write
        /// Copies a file.
        case copy
        /// Moves a file.
        case move
        /// Removes a file.
        case delete
        /// Lists files.
        case list
    }

    /// The operation.
    public let operation: Operation
    /// The path of the file, of the target of a copy or move, or of the listed folder.
    public let path: String
    /// The number of bytes read or written; repeated ones count again.
    public let byteCount: Int
    /// The duration of the call; for a read, until its end was read or its reader was released.
    public let duration: Duration
    /// The error code of a failed call; nil for a success.
    public let failure: FileStoreError.Code?
}

/// An adapter that reports each call except `changes(in:)` to an observer, for logs, metrics and traces.
///
/// ```swift
/// let adapter = local.observed { call in
///     timer("files.\(call.operation)").record(call.duration)
/// }
/// ```
public struct ObservedFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    fileprivate let upstream: Upstream
    fileprivate let timeline: Timeline
    fileprivate let observer: @Sendable (FileStoreObservation) -> Void

    public var capabilities: FileStoreCapabilities { upstream.capabilities }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try await observe(.metadata, path.string) { () async throws(FileStoreError) in
            try await upstream.metadata(of: path)
        }
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        let call = ObservedCall(.read, path.string, timeline, observer)
        do throws(FileStoreError) {
            let reading = try await upstream.read(path, range: range, ifVersion: version)
            return FileReading(
                metadata: reading.metadata,
                range: reading.range,
                content: call.following(reading.content)
            )
        } catch {
            call.fail(error)
            throw error
        }
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        let call = ObservedCall(.write, path.string, timeline, observer)
        do throws(FileStoreError) {
            let counted = content.inspected { call.add($0.count) }
            let metadata = try await upstream.write(counted, to: path, options: options)
            call.end()
            return metadata
        } catch {
            call.fail(error)
            throw error
        }
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        try await observe(request.isMove ? .move : .copy, request.target.string) {
            () async throws(FileStoreError) in
            try await upstream.transfer(request)
        }
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try await observe(.delete, path.string) { () async throws(FileStoreError) in
            try await upstream.delete(path, if: condition)
        }
    }

    public func deleteEach(_ paths: [FileStorePath]) async -> [Result<Bool, FileStoreError>] {
        let calls = paths.map { ObservedCall(.delete, $0.string, timeline, observer) }
        let results = await upstream.deleteEach(paths)
        for (call, result) in zip(calls, results) {
            switch result {
            case .success: call.end()
            case .failure(let error): call.fail(error)
            }
        }
        // The store did not try these.
        for call in calls.dropFirst(results.count) { call.withdraw() }
        return results
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        try await observe(.list, request.folder.string) { () async throws(FileStoreError) in
            try await upstream.list(request)
        }
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        try await upstream.changes(in: folder)
    }

    private func observe<Value>(
        _ operation: FileStoreObservation.Operation,
        _ path: String,
        _ body: () async throws(FileStoreError) -> Value
    ) async throws(FileStoreError) -> Value {
        let call = ObservedCall(operation, path, timeline, observer)
        do throws(FileStoreError) {
            let value = try await body()
            call.end()
            return value
        } catch {
            call.fail(error)
            throw error
        }
    }
}

/// A call that is reported once: when it ends, or when its last reference is released.
private final class ObservedCall: Sendable {
    private struct State {
        var byteCount = 0
        var isTold = false
    }

    private let operation: FileStoreObservation.Operation
    private let path: String
    private let timeline: Timeline
    private let begin: Duration
    private let observer: @Sendable (FileStoreObservation) -> Void
    private let state = Mutex(State())

    init(
        _ operation: FileStoreObservation.Operation,
        _ path: String,
        _ timeline: Timeline,
        _ observer: @escaping @Sendable (FileStoreObservation) -> Void
    ) {
        self.operation = operation
        self.path = path
        self.timeline = timeline
        self.observer = observer
        begin = timeline.now
    }

    deinit { tell(nil) }

    func add(_ count: Int) { state.withLock { $0.byteCount += count } }
    func end() { tell(nil) }
    func fail(_ error: FileStoreError) { tell(error.code) }
    func withdraw() { state.withLock { $0.isTold = true } }

    /// Returns a content with the same bytes, whose end is the end of the call.
    func following(_ content: FileContent) -> FileContent {
        FileContent(length: content.length, isReplayable: content.isReplayable) {
            () async throws(FileStoreError) in
            let reader = try await content.open()
            return FileReader { () async throws(FileStoreError) in
                do throws(FileStoreError) {
                    let piece = try await reader.next()
                    if let piece { self.add(piece.count) } else { self.end() }
                    return piece
                } catch {
                    self.fail(error)
                    throw error
                }
            }
        }
    }

    private func tell(_ failure: FileStoreError.Code?) {
        let byteCount = state.withLock { state -> Int? in
            if state.isTold { return nil }
            state.isTold = true
            return state.byteCount
        }
        guard let byteCount else { return }
        observer(
            FileStoreObservation(
                operation: operation,
                path: path,
                byteCount: byteCount,
                duration: timeline.now - begin,
                failure: failure
            )
        )
    }
}

extension FileStoreAdapter {
    /// Reports each call to an observer, after the call.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (FileStoreObservation) -> Void
    ) -> ObservedFileStoreAdapter<Self> {
        ObservedFileStoreAdapter(upstream: self, timeline: Timeline(clock), observer: observer)
    }
}
