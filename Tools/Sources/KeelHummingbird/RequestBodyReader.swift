import HummingbirdCore
import KeelHTTP
import NIOCore
import Synchronization

/// Reads the body of a request for one reader at a time, and gives the connection back at its end.
///
/// What follows a request's answer reads the same connection: the rest of the body, and the next
/// request. Two readers of it at a time end the process. So a read that is under way when the answer is
/// complete, of a transport for example that still sends the body on, is waited for, and no later
/// one reaches the connection.
///
/// `@unchecked`, because the iterator cannot be sent: the state lets only one call touch it, and the
/// lock around the state orders one call after the other.
final class RequestBodyReader: @unchecked Sendable {
    private struct State {
        var isReading = false
        var hasEnded = false
        var ending: CheckedContinuation<Void, Never>?
    }

    private var iterator: HummingbirdCore.RequestBody.AsyncIterator
    private let state = Mutex(State())

    init(_ body: HummingbirdCore.RequestBody) { iterator = body.makeAsyncIterator() }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        try begin()
        defer { endReading() }
        do {
            return try await iterator.next().map { Array($0.readableBytesView)[...] }
        } catch {
            throw TransportError(.connectionLost, phase: .readBody, cause: error)
        }
    }

    /// Refuses every later read, and returns once none is under way.
    ///
    /// A read ends with the next bytes of the client's, or with its connection.
    func end() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                state.hasEnded = true
                if state.isReading { state.ending = continuation }
                return !state.isReading
            }
            if isFree { continuation.resume() }
        }
    }

    /// Refuses every later read.
    func refuse() { state.withLock { $0.hasEnded = true } }

    private func begin() throws(TransportError) {
        try state.withLock { state throws(TransportError) in
            guard !state.hasEnded else {
                throw TransportError(.connectionLost, phase: .readBody)
            }
            guard !state.isReading else { throw TransportError(.concurrentRead) }
            state.isReading = true
        }
    }

    private func endReading() {
        let ending = state.withLock { state in
            state.isReading = false
            return state.ending.take()
        }
        ending?.resume()
    }
}
