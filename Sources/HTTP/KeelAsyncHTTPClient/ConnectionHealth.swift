#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import KeelHTTP
import NIOHTTP2
import Synchronization

/// The events of an HTTP/2 connection that explain the end of its streams.
///
/// AsyncHTTPClient reports to a request only that its stream or connection was closed.
final class ConnectionHealth: Sendable {
    private struct State {
        var lastStream: Int?
        var violation: (any Error)?
    }

    private let state = Mutex(State())

    /// The server takes no more requests, and processed none above this stream (RFC 9113, 6.8).
    func goAway(_ lastStream: Int) {
        state.withLock { $0.lastStream = min($0.lastStream ?? .max, lastStream) }
    }

    func broke(_ error: any Error) {
        state.withLock { $0.violation = $0.violation ?? error }
    }

    func explanation(of error: TransportError) -> TransportError? {
        let state = state.withLock { $0 }
        if let stream = (error.cause as? NIOHTTP2Errors.StreamClosed)?.streamID,
            let last = state.lastStream, Int(stream) > last
        {
            return TransportError(
                .streamRefused,
                processed: .no,
                url: error.url,
                cause: error.cause
            )
        }
        guard let violation = state.violation,
            error.code == .connectionLost || error.code == .streamReset
        else { return nil }
        return TransportError(
            .protocolViolation,
            phase: error.phase,
            url: error.url,
            cause: violation
        )
    }
}
#endif
