import HummingbirdCore
import KeelHTTP
import NIOCore
import Synchronization

/// Reads the body of a request for one reader at a time.
///
/// After the response, the server itself reads the connection, and two simultaneous readers end the process. So
/// ``end()`` waits for a read in progress, for example by a transport that still forwards the body, and later reads
/// fail.
///
/// `@unchecked`, because the state admits one call of the iterator at a time, and its lock orders the calls.
final class RequestBodyReader: @unchecked Sendable {
    private struct State {
        var isReading = false
        var hasEnded = false
        var ending: CheckedContinuation<Void, Never>?
        var beforeFirstRead: (@Sendable () -> Void)?
    }

    private var iterator: HummingbirdCore.RequestBody.AsyncIterator
    private let state = Mutex(State())

    init(_ body: HummingbirdCore.RequestBody) { iterator = body.makeAsyncIterator() }

    /// Calls a function once, before the first read.
    func beforeFirstRead(_ body: @escaping @Sendable () -> Void) {
        state.withLock { $0.beforeFirstRead = body }
    }

    /// Whether a function waits for the first read.
    var isUntouched: Bool { state.withLock { $0.beforeFirstRead != nil } }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        try begin()
        state.withLock { $0.beforeFirstRead.take() }?()
        defer { endReading() }
        do {
            return try await iterator.next().map { Array($0.readableBytesView)[...] }
        } catch {
            throw TransportError(.connectionLost, phase: .readBody, cause: error)
        }
    }

    /// Refuses later reads, and waits for a read in progress.
    ///
    /// A read ends with the client's next bytes, or with the connection.
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

    /// Refuses later reads.
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
