#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import AsyncHTTPClient
import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// Receives a response from AsyncHTTPClient on its event loop, and passes it to the waiting task.
///
/// The head is passed on at the end of the event loop's turn, or with the end of the response: a
/// small response is then complete, and its body needs no waiting.
final class ResponseReceiver: HTTPClientResponseDelegate {
    typealias Response = Void

    fileprivate struct State {
        enum Waiter {
            case head(CheckedContinuation<HTTPResponseHead, any Error>)
            case piece(CheckedContinuation<ByteBuffer?, any Error>)
        }

        var head: HTTPResponseHead?
        var mayHandOverHead = false
        var pieces = CircularBuffer<ByteBuffer>()
        var bytes = 0
        var end: Result<Void, any Error>?
        var waiter: Waiter?
        var room: EventLoopPromise<Void>?
        var isAbandoned = false
    }

    fileprivate enum Action {
        case none
        case giveHead(
            CheckedContinuation<HTTPResponseHead, any Error>,
            Result<HTTPResponseHead, any Error>
        )
        case givePiece(
            CheckedContinuation<ByteBuffer?, any Error>,
            Result<ByteBuffer?, any Error>,
            room: EventLoopPromise<Void>?
        )
    }

    /// The number of unread bytes at which reading stops, until half of them are read.
    fileprivate static let limit = 256 * 1024

    private let state = Mutex(State())

    // MARK: Called by the reader

    func head() async throws -> HTTPResponseHead {
        try await withCheckedThrowingContinuation { continuation in
            change { $0.waiter = .head(continuation) }
        }
    }

    func takeWhole() -> [UInt8]? {
        state.withLock { state in
            guard case .success? = state.end else { return nil }
            var bytes: [UInt8] = []
            bytes.reserveCapacity(state.bytes)
            while let piece = state.pieces.popFirst() {
                bytes.append(contentsOf: piece.readableBytesView)
            }
            return bytes
        }
    }

    func next() async throws -> ByteBuffer? {
        try await withCheckedThrowingContinuation { continuation in
            var isAlone = true
            change { state in
                isAlone = state.waiter == nil
                if isAlone { state.waiter = .piece(continuation) }
            }
            if !isAlone { continuation.resume(throwing: TransportError(.concurrentRead)) }
        }
    }

    /// Records that the rest will not be read.
    ///
    /// - Returns: Whether the response is incomplete, so that the exchange must be canceled.
    func abandon() -> Bool {
        let (room, isUnfinished) = state.withLock { state in
            state.isAbandoned = true
            state.pieces.removeAll()
            return (state.room.take(), state.end == nil)
        }
        room?.succeed()
        return isUnfinished
    }

    /// Ends the response with an error, unless its head has arrived; returns whether this ended it.
    func failHead(_ error: any Error) -> Bool {
        var isFailed = false
        change { state in
            isFailed = state.head == nil && state.end == nil
            if isFailed { state.end = .failure(error) }
        }
        return isFailed
    }

    /// Ends the response with an error, unless it has ended.
    func fail(_ error: any Error) { change { $0.end = $0.end ?? .failure(error) } }

    // MARK: Called by AsyncHTTPClient

    func didReceiveHead(
        task: HTTPClient.Task<Void>,
        _ head: HTTPResponseHead
    ) -> EventLoopFuture<Void> {
        state.withLock { $0.head = head }
        task.eventLoop.execute { self.change { $0.mayHandOverHead = true } }
        return task.eventLoop.makeSucceededVoidFuture()
    }

    func didReceiveBodyPart(
        task: HTTPClient.Task<Void>,
        _ piece: ByteBuffer
    ) -> EventLoopFuture<Void> {
        var room: EventLoopFuture<Void>?
        change { state in
            guard !state.isAbandoned else { return }
            state.pieces.append(piece)
            state.bytes += piece.readableBytes
            guard state.bytes >= Self.limit else { return }
            let promise = task.eventLoop.makePromise(of: Void.self)
            (state.room, room) = (promise, promise.futureResult)
        }
        return room ?? task.eventLoop.makeSucceededVoidFuture()
    }

    func didFinishRequest(task: HTTPClient.Task<Void>) throws {
        change { $0.end = $0.end ?? .success(()) }
    }

    func didReceiveError(task: HTTPClient.Task<Void>, _ error: any Error) { fail(error) }

    // MARK: Passing on

    private func change(_ change: (inout State) -> Void) {
        let action = state.withLock { state in
            change(&state)
            return state.action()
        }
        switch action {
        case .none: break
        case .giveHead(let reader, let head): reader.resume(with: head)
        case .givePiece(let reader, let piece, let room):
            reader.resume(with: piece)
            room?.succeed()
        }
    }
}

extension ResponseReceiver.State {
    fileprivate mutating func action() -> ResponseReceiver.Action {
        switch waiter {
        case .head(let reader):
            if let head, mayHandOverHead || end != nil {
                waiter = nil
                return .giveHead(reader, .success(head))
            }
            guard case .failure(let error)? = end else { return .none }
            waiter = nil
            return .giveHead(reader, .failure(error))
        case .piece(let reader):
            guard let piece = nextPiece() else { return .none }
            waiter = nil
            let hasRoom = bytes <= ResponseReceiver.limit / 2
            return .givePiece(reader, piece, room: hasRoom ? room.take() : nil)
        case nil:
            return .none
        }
    }

    /// Returns nil while the next piece is unknown; a successful nil is the end of the body.
    private mutating func nextPiece() -> Result<ByteBuffer?, any Error>? {
        if let piece = pieces.popFirst() {
            bytes -= piece.readableBytes
            return .success(piece)
        }
        guard case .failure(let error)? = end else { return end.map { _ in .success(nil) } }
        // A stream reports its error once.
        end = .success(())
        return .failure(error)
    }
}
#endif
