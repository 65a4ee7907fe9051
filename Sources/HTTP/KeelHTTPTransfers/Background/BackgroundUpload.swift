#if canImport(Darwin)
import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP

#if canImport(FoundationNetworking)
import CFNetwork
#endif

struct BackgroundUpload: Sendable {
    let session: BackgroundTransferSession
    let task: BackgroundTask
    let notes: UploadNotes
    let files: any FileSystem
    let queue: DiskQueue
    let watch: BackgroundWatch

    func earlier() async -> (piece: UploadPiece, answer: BackgroundRuns.Response)? {
        guard let end = await session.earlier(task, watch, where: { _ in true }),
            let piece = end.task.piece, case .success(let answer) = end.outcome
        else { return nil }
        return (piece, answer)
    }

    /// Sends a piece through the system, from its own file unless it is the whole.
    ///
    /// With `isOnce`, accepts the result of the same request from an earlier run.
    ///
    /// - Throws: ``TransportError``, whose cause is the ``TransferError``.
    func send(
        _ head: HTTPRequest,
        _ piece: UploadPiece,
        of source: UploadSource,
        isOnce: Bool
    ) async throws(TransportError) -> HTTPReply {
        do throws(TransferError) {
            let answer = try await answer(head, piece, source, isOnce)
            return HTTPReply(head: answer.head, body: .collected(answer.body))
        } catch {
            throw TransportError(.bodyProducerFailed, cause: error)
        }
    }

    private func answer(
        _ head: HTTPRequest,
        _ piece: UploadPiece,
        _ source: UploadSource,
        _ isOnce: Bool
    ) async throws(TransferError) -> BackgroundRuns.Response {
        guard let request = URLRequest(head) else { throw TransferError(.invalidAddress) }
        var purpose = task
        purpose.piece = piece
        let earlier = await session.earlier(task, watch) { isOnce && $0.piece == piece }
        let outcome: BackgroundRuns.Outcome
        if let earlier {
            outcome = earlier.outcome
        } else {
            let file = URL(filePath: try await file(of: piece, source))
            outcome = await session.end(of: purpose, watch) { session in
                session.uploadTask(with: request, fromFile: file)
            }
        }
        do throws(TransferError) {
            let answer = try outcome.get()
            // The system read the file on its own, so a change shows only now.
            guard try await disk(task.path, source.fits) else {
                throw TransferError(.sourceChanged)
            }
            return answer
        } catch {
            guard error.code == .cancelled, !Task.isCancelled else { throw error }
            throw TransferError(.connection, "The system has ended the transfer.")
        }
    }

    private func file(
        of piece: UploadPiece,
        _ source: UploadSource
    ) async throws(TransferError) -> String {
        guard piece.count < source.size else { return task.path }
        let (path, files) = (notes.piecePath, files)
        let isUnchanged = try await disk(task.path) { file throws(FileSystemError) in
            try files.removeIfThere(path)
            let copy = try files.open(path, for: .creating)
            var offset = piece.offset
            while offset < piece.end {
                let bytes = try file.read(
                    at: Int(offset),
                    count: Int(min(piece.end - offset, 1 << 20))
                )
                guard !bytes.isEmpty else { return false }
                try copy.write(bytes, at: Int(offset - piece.offset))
                offset += Int64(bytes.count)
            }
            return try source.fits(file)
        }
        guard isUnchanged else { throw TransferError(.sourceChanged) }
        return path
    }

    private func disk<Value: Sendable>(
        _ path: String,
        _ work: @escaping @Sendable (any OpenFile) throws(FileSystemError) -> Value
    ) async throws(TransferError) -> Value {
        do throws(FileSystemError) {
            return try await queue.run { [files] () throws(FileSystemError) in
                try work(try files.open(path, for: .reading))
            }
        } catch {
            throw TransferError(error, source: true)
        }
    }
}

extension ResumableUpload {
    /// Sends the missing bytes through the system.
    ///
    /// Each piece is one request that the system performs, with all missing bytes unless the server wants less;
    /// ``Configuration/pieceByteCount`` is ignored. The rest of a file is first copied beside the record. The small
    /// requests around the pieces go through the client while the app runs. Those with a piece bypass its layers: put
    /// credentials into ``Configuration/headers``.
    ///
    /// Call it again after a launch: it waits for the piece under way, asks the server what has arrived, and sends the
    /// rest. While a piece is sent, the observer receives ``TransferEvent/provisionalProgress(_:)``. A change of the
    /// file is detected only before and after sending a piece. The plain request of ``Fallback/sendPlainRequest`` may
    /// arrive twice, because the system repeats requests if the network fails.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the upload runs; the server keeps the bytes that were sent.
    @discardableResult @concurrent
    public func run(
        in session: BackgroundTransferSession,
        observer: ResumableTransferObserver? = nil
    ) async throws(TransferError) -> Receipt {
        defer { observer?.finish() }
        try check()
        var configuration = configuration
        configuration.pieceByteCount = .max
        let whole = ResumableUpload(
            of: file,
            to: address,
            through: client,
            protocol: kind,
            configuration: configuration,
            files: files
        )
        var run = try await UploadRun(whole, observer)
        let key = run.carry(in: session).task.key
        try session.runs.begin(key)
        defer { session.runs.finish(key) }
        return try await run.run()
    }

    /// Cancels the upload in the system, and then discards it as ``discard()`` does.
    ///
    /// - Throws: ``TransferError``, with `inUse` while the upload runs.
    @concurrent
    public func discard(in session: BackgroundTransferSession) async throws(TransferError) {
        var run = try await UploadRun(self, nil)
        let task = run.carry(in: session).task
        try session.runs.begin(task.key)
        defer { session.runs.finish(task.key) }
        _ = await session.earlier(task, BackgroundWatch(nil)) { _ in false }
        try await run.discard()
    }
}
#endif
