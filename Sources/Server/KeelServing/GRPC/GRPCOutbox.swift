import HTTPTypes
import KeelHTTP
import Synchronization

/// The messages of a stream that the client has not taken yet.
final class GRPCOutbox: Sendable {
    private static let mostBytes = 64 << 10

    private struct State {
        var frames: [UInt8] = []
        var trailers: HTTPFields?
        /// Whether the reader has ended.
        var isClosed = false
        var reader: CheckedContinuation<Void, Never>?
        var senders: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Mutex(State())

    /// The status, once the stream has ended.
    var trailers: HTTPFields? { state.withLock { $0.trailers } }

    /// Adds a message in its frame, and waits while more than 64 KiB are not taken.
    ///
    /// - Throws: `TransportError/Code/connectionLost` if the client is gone, or the stream has ended;
    ///   `TransportError/Code/cancelled` if the task is canceled.
    func send(_ frame: [UInt8]) async throws(TransportError) {
        let (isOpen, reader) = state.withLock { state in
            guard !state.isClosed, state.trailers == nil else {
                return (false, nil as CheckedContinuation<Void, Never>?)
            }
            state.frames += frame
            return (true, state.reader.take())
        }
        reader?.resume()
        guard isOpen else { throw TransportError(.connectionLost, phase: .readBody) }
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.frames.count > Self.mostBytes, !state.isClosed,
                        state.trailers == nil, !Task.isCancelled
                    else { return false }
                    state.senders.append(continuation)
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            // All senders belong to one stream, which ends.
            let senders = state.withLock { state in
                defer { state.senders = [] }
                return state.senders
            }
            for sender in senders { sender.resume() }
        }
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .readBody) }
    }

    /// Ends the stream, after the messages that wait; only the first call has an effect.
    func finish(_ failure: StreamFailure?) {
        let status = failure.map { GRPCStatus($0) } ?? .ok
        wake { $0.trailers = $0.trailers ?? status.trailers }
    }

    /// Drops the messages of a client that is gone, and wakes the senders.
    func close() {
        wake { state in
            state.isClosed = true
            state.frames = []
        }
    }

    private func wake(_ change: (inout State) -> Void) {
        let waiting = state.withLock { state in
            change(&state)
            defer { state.senders = [] }
            return state.senders + (state.reader.take().map { [$0] } ?? [])
        }
        for continuation in waiting { continuation.resume() }
    }

    /// Returns all frames that wait; nil at the end.
    ///
    /// - Throws: `TransportError/Code/cancelled` if the task is canceled.
    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let mustWait = state.withLock { state in
                    guard state.frames.isEmpty, state.trailers == nil, !state.isClosed else {
                        return false
                    }
                    state.reader = continuation
                    return true
                }
                if !mustWait { continuation.resume() }
            }
        } onCancel: {
            close()
        }
        let (frames, senders, isCut) = state.withLock { state in
            defer {
                state.frames = []
                state.senders = []
            }
            return (state.frames, state.senders, state.isClosed && state.trailers == nil)
        }
        for sender in senders { sender.resume() }
        guard !isCut else { throw TransportError(.cancelled, phase: .readBody) }
        return frames.isEmpty ? nil : frames[...]
    }
}
