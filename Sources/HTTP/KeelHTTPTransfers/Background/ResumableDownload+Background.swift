#if canImport(Darwin)
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP

#if canImport(FoundationNetworking)
import CFNetwork
#endif

extension ResumableDownload {
    /// Downloads the file through the system, and puts it in its place.
    ///
    /// The system requests the whole file and repeats the request on its own if the network fails. Bytes fetched by
    /// ``run(observer:)`` are not continued, nor the reverse. The request has the header fields of the configuration
    /// and the client but bypasses the client's layers, so put a credential into ``Configuration/headers``.
    /// ``Configuration/retry`` is ignored.
    ///
    /// Call it again after a launch: it finds the received file, the task under way, or the resume data of one that was
    /// paused or has failed. While the file is fetched, the observer receives
    /// ``TransferEvent/provisionalProgress(_:)``.
    ///
    /// - Returns: A summary of the run.
    /// - Throws: ``TransferError``; after `connection` and `cancelled`, the same call may continue.
    @discardableResult @concurrent
    public func run(
        in session: BackgroundTransferSession,
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        let (head, part) = (try head(), try part())
        let task = BackgroundTask(
            .download,
            path: try TransferNames(file).file,
            address: DownloadAddress(head, for: await user)
        )
        try session.runs.begin(task.key)
        defer { session.runs.finish(task.key) }
        let fetch = BackgroundFetch(configuration, session, task, part, BackgroundWatch(observer))
        let resumedBytes = try await fetch.run(head)
        // The part is complete, and remains to be verified and renamed.
        let receipt = try await run()
        observer?.tell(
            .progress(
                TransferProgress(
                    completedBytes: receipt.byteCount,
                    totalBytes: receipt.byteCount
                )
            )
        )
        return Receipt(
            byteCount: receipt.byteCount,
            resumedBytes: min(resumedBytes, receipt.byteCount),
            restarts: receipt.restarts,
            entityTag: receipt.entityTag
        )
    }

    /// Cancels the download in the system, and removes the bytes that were fetched.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the download runs.
    @concurrent
    public func discard(in session: BackgroundTransferSession) async throws(TransferError) {
        let task = BackgroundTask(
            .download,
            path: try TransferNames(file).file,
            address: DownloadAddress(try head(), for: await user)
        )
        try session.runs.begin(task.key)
        defer { session.runs.finish(task.key) }
        _ = await session.earlier(task, BackgroundWatch(nil)) { _ in false }
        try await discard()
    }
}

private struct BackgroundFetch: Sendable {
    private let configuration: ResumableDownload.Configuration
    private let session: BackgroundTransferSession
    private let task: BackgroundTask
    private let part: DownloadFile
    private let watch: BackgroundWatch
    private let queue = DiskQueue()

    init(
        _ configuration: ResumableDownload.Configuration,
        _ session: BackgroundTransferSession,
        _ task: BackgroundTask,
        _ part: DownloadFile,
        _ watch: BackgroundWatch
    ) {
        self.configuration = configuration
        self.session = session
        self.task = task
        self.part = part
        self.watch = watch
    }

    func run(_ head: HTTPRequest) async throws(TransferError) -> Int64 {
        let result: Result<Int64, TransferError>
        do throws(TransferError) {
            result = .success(try await fetch(head))
        } catch {
            result = .failure(error)
        }
        _ = try? await queue.run { [part] () throws(FileSystemError) in try part.unlock() }
        return try result.get()
    }

    private func mayContinue(_ address: DownloadAddress) -> Bool {
        configuration.mayContinue(address, at: task.address)
    }

    private func fetch(_ head: HTTPRequest) async throws(TransferError) -> Int64 {
        if let count = try await complete() { return count }
        let earlier = await session.earlier(task, watch) { mayContinue($0.address) }
        // A task that ended between these lines has its file in place as well.
        if let count = try await complete() {
            return earlier?.isPast == false ? watch.resumedBytes : count
        }
        if Task.isCancelled { throw TransferError(.cancelled, completedBytes: watch.movedBytes) }
        let answer: BackgroundRuns.Response
        do throws(TransferError) {
            answer = try await begin(head).get()
        } catch {
            var failure = error
            if error.code == .cancelled, !Task.isCancelled {
                failure = TransferError(.connection, "The system has ended the transfer.")
            }
            failure.completedBytes = watch.movedBytes
            throw failure
        }
        guard answer.head.status.kind == .successful else {
            throw TransferError(refusedWith: answer.head.status)
        }
        return watch.resumedBytes
    }

    private func complete() async throws(TransferError) -> Int64? {
        let found = try await disk { [session, task] part throws(FileSystemError) in
            try session.runs.onDisk(task.key) { _ throws(FileSystemError) in
                try part.isOpen ? part.look() : part.open()
            }
        }
        guard let record = found.record, record.total == found.durable, found.durable > 0,
            mayContinue(record.source)
        else { return nil }
        return found.durable
    }

    private func begin(
        _ head: HTTPRequest
    ) async throws(TransferError) -> BackgroundRuns.Outcome {
        guard let request = URLRequest(head) else { throw TransferError(.invalidAddress) }
        let resumption = try await disk { part throws(FileSystemError) in
            try part.takeResumption()
        }
        let data = resumption.flatMap { mayContinue($0.address) ? $0.data : nil }
        return await session.end(of: task, watch) { session in
            if let data {
                session.downloadTask(withResumeData: data)
            } else {
                session.downloadTask(with: request)
            }
        }
    }

    private func disk<Value: Sendable>(
        _ work: @escaping @Sendable (DownloadFile) throws(FileSystemError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(FileSystemError) {
            return try await queue.run { [part] () throws(FileSystemError) in try work(part) }
        } catch {
            throw TransferError(error)
        }
    }
}
#endif
