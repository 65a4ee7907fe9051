public import KeelFiles
internal import Synchronization

/// A file store adapter whose calls fail on demand.
///
/// ```swift
/// let flaky = InMemoryFileStoreAdapter().failing([.loseReply(), nil, .breakOff(after: 1000)])
/// ```
///
/// Copies share the call count and the position in the list.
public struct FaultInjectingFileStoreAdapter<Upstream: FileStoreAdapter>: FileStoreAdapter {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<FileStoreCall, FileStoreFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    // MARK: Adapter

    public var capabilities: FileStoreCapabilities { upstream.capabilities }

    public func metadata(
        of path: FileStorePath
    ) async throws(FileStoreError) -> FileMetadata? {
        try await answer(.metadata(path)) { () async throws(FileStoreError) in
            try await upstream.metadata(of: path)
        }
    }

    public func read(
        _ path: FileStorePath,
        range: FileRange,
        ifVersion version: FileVersion?
    ) async throws(FileStoreError) -> FileReading {
        let fault = try await beginning(.read(path, range))
        let reading = try await upstream.read(path, range: range, ifVersion: version)
        switch fault {
        case .lostReply(let error)?: throw error
        case .cutOff(let count, let error)?:
            return FileReading(
                metadata: reading.metadata,
                range: reading.range,
                content: reading.content.cutOff(after: count, error)
            )
        default: return reading
        }
    }

    public func write(
        _ content: FileContent,
        to path: FileStorePath,
        options: FileWriteOptions
    ) async throws(FileStoreError) -> FileMetadata {
        let fault = try await beginning(.write(path, options))
        var content = content
        if case .cutOff(let count, let error)? = fault {
            content = content.cutOff(after: count, error)
        }
        let metadata = try await upstream.write(content, to: path, options: options)
        if case .lostReply(let error)? = fault { throw error }
        return metadata
    }

    public func transfer(
        _ request: FileTransferRequest
    ) async throws(FileStoreError) -> FileMetadata {
        try await answer(.transfer(request)) { () async throws(FileStoreError) in
            try await upstream.transfer(request)
        }
    }

    public func delete(
        _ path: FileStorePath,
        if condition: FileCondition
    ) async throws(FileStoreError) -> Bool {
        try await answer(.delete(path, if: condition)) { () async throws(FileStoreError) in
            try await upstream.delete(path, if: condition)
        }
    }

    public func list(_ request: FileListRequest) async throws(FileStoreError) -> FilePage {
        try await answer(.list(request)) { () async throws(FileStoreError) in
            try await upstream.list(request)
        }
    }

    public func changes(in folder: FileStoreFolder) async throws(FileStoreError) -> FileChanges {
        try await answer(.changes(folder)) { () async throws(FileStoreError) in
            try await upstream.changes(in: folder)
        }
    }

    private func answer<Value>(
        _ call: FileStoreCall,
        _ body: () async throws(FileStoreError) -> Value
    ) async throws(FileStoreError) -> Value {
        let fault = try await beginning(call)
        let value = try await body()
        if case .lostReply(let error)? = fault { throw error }
        return value
    }

    /// Applies the part of a fault that precedes the call; returns the rest of the fault.
    private func beginning(
        _ call: FileStoreCall
    ) async throws(FileStoreError) -> FileStoreFault? {
        let fault = try await schedule.begin(call) {
            FileStoreError(.cancelled, "The call was canceled.", cause: $0)
        }
        if case .failure(let error)? = fault { throw error }
        return fault
    }
}

extension FileContent {
    /// Returns the first `count` bytes of the content, followed by an error.
    fileprivate func cutOff(after count: Int, _ error: FileStoreError) -> FileContent {
        FileContent(length: length, isReplayable: isReplayable) { () async throws(FileStoreError) in
            let reader = try await open()
            let left = Mutex(count)
            return FileReader { () async throws(FileStoreError) in
                guard left.withLock({ $0 }) > 0 else { throw error }
                guard let piece = try await reader.next() else { return nil }
                return left.withLock { left in
                    let part = piece.prefix(left)
                    left -= piece.count
                    return Array(part)
                }
            }
        }
    }
}

extension FileStoreAdapter {
    /// Makes calls fail as a closure says; see ``FaultInjectingFileStoreAdapter``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (FileStoreCall) -> FileStoreFault?
    ) -> FaultInjectingFileStoreAdapter<Self> {
        FaultInjectingFileStoreAdapter(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first calls fail as a list says; see ``FaultInjectingFileStoreAdapter``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [FileStoreFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingFileStoreAdapter<Self> {
        FaultInjectingFileStoreAdapter(upstream: self, schedule: CallFaults(clock, faults: faults))
    }
}
