internal import KeelCore
internal import Synchronization

/// What one call of a file store did.
public struct FileStoreObservation: Hashable, Sendable {
    /// The calls of a store.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The metadata of a file was asked for.
        case metadata
        /// A file was read, to the end of what was asked for or as far as its reader went.
        case read
        /// A file was put.
        case write
        /// A file was copied.
        case copy
        /// A file was moved.
        case move
        /// A file was removed.
        case delete
        /// Files were listed.
        case list
    }

    /// The method.
    public let operation: Operation
    /// The file, or the folder that was listed.
    public let path: String
    /// How many bytes went through.
    public let byteCount: Int
    /// How long it took; for reading, until its reader let go of it.
    public let duration: Duration
    /// The code of the failure; nil for a success.
    public let failure: FileStoreError.Code?
}

/// An adapter that tells of each call, for logs, metrics and traces of whatever library.
///
/// ```swift
/// let adapter = local.observed { call in
///     timer("files.\(call.operation)").record(call.duration)
/// }
/// ```
public struct ObservedFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    private let upstream: Upstream
    private let timeline: Timeline
    private let observer: @Sendable (FileStoreObservation) -> Void

    /// Creates the decorator; `adapter.observed(by:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The adapter that does the work.
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: @escaping @Sendable (FileStoreObservation) -> Void
    ) {
        self.upstream = upstream
        timeline = Timeline(clock)
        self.observer = observer
    }

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

/// A call that is told once: when it ends, or when its last user lets go of it.
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

    /// The same bytes; the call ends with them.
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
    /// Tells of each call; see ``ObservedFileStoreAdapter``.
    ///
    /// - Parameters:
    ///   - clock: What durations are measured on.
    ///   - observer: Is told after each call.
    /// - Returns: The adapter, observed.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (FileStoreObservation) -> Void
    ) -> ObservedFileStoreAdapter<Self> {
        ObservedFileStoreAdapter(self, clock: clock, observer: observer)
    }
}
