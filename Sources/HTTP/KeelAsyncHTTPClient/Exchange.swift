#if AsyncHTTPClient && canImport(AsyncHTTPClient)
import HTTPTypes
import KeelHTTP
import NIOCore
import NIOHTTP1
import Synchronization

/// The state of one exchange in progress.
///
/// AsyncHTTPClient does not report which connection serves a request. The request therefore carries
/// its number in a field that ``ExchangeHandler`` removes just before the encoder.
final class Exchange: Sendable {
    private struct State {
        var connection: ConnectionInfo?
        var health: ConnectionHealth?
        var bytesSent: Int64 = 0
        var bodyBytesSent: Int64 = 0
        var bytesReceived: Int64 = 0
        var hasResponse = false
        var hasEnded = false
        var trailers: HTTPFields?
        var refusal: TransportError?
        var place: OriginLoops.Place?

        /// Whether the connection carries several exchanges at once; nil if there is none.
        var isMultiplexed: Bool? { connection.map { $0.version == "HTTP/2" } }
    }

    let number: UInt64
    /// The requested path, if it differs from the request's own: see ``OriginRequests``.
    let path: String?
    let origin: String
    let pins: PublicKeyPins?
    let wantsNewConnection: Bool
    let host: String
    let window = SendWindow()
    private let call: HTTPCall?
    private let onInterimResponse: (@Sendable (HTTPResponse) -> Void)?
    private let queue: ConnectionQueue
    private let state: Mutex<State>

    init(
        number: UInt64,
        call: HTTPCall,
        prepared: OriginRequests.Prepared?,
        wantsNewConnection: Bool,
        _ queue: ConnectionQueue
    ) {
        self.number = number
        self.wantsNewConnection = wantsNewConnection
        path = prepared?.path
        state = Mutex(State(place: prepared?.place))
        self.queue = queue
        origin = call.head.authority ?? ""
        pins = call.options.pins
        host = pins == nil ? "" : call.head.hostWithoutPort
        onInterimResponse = call.onInterimResponse
        // Only an observed call is kept: it may contain a large body.
        self.call = call.isObserved ? call : nil
    }

    var connection: ConnectionInfo? { state.withLock { $0.connection } }
    var trailers: HTTPFields? { state.withLock { $0.trailers } }
    var hasConnection: Bool { state.withLock { $0.connection != nil } }

    // MARK: Called by the connection

    func connected(to connection: ConnectionInfo, _ health: ConnectionHealth) {
        state.withLock { state in
            state.connection = connection
            state.health = health
        }
        queue.exchangeBegan(origin)
        call?.record(.connected(connection))
    }

    func sentHead(bytes: Int) {
        state.withLock { $0.bytesSent += Int64(bytes) }
        call?.record(.sentHead)
    }

    func sentBody(bytes: Int) {
        state.withLock { state in
            state.bytesSent += Int64(bytes)
            state.bodyBytesSent += Int64(bytes)
        }
    }

    func sentEnd() {
        guard let call else { return }
        call.record(.sentBody(bytes: state.withLock { $0.bodyBytesSent }))
    }

    func received(interim status: HTTPResponseStatus, _ headers: HTTPHeaders) {
        // 100 and 101 concern only the connection.
        guard status.code > 101 else { return }
        onInterimResponse?(HTTPResponse(status, headers))
    }

    func responseBegan() { state.withLock { $0.hasResponse = true } }

    func received(trailers: HTTPFields?) { state.withLock { $0.trailers = trailers } }

    /// This side gives the connection up.
    func refused(because error: TransportError) { state.withLock { $0.refusal = error } }

    /// The connection is free again, or gone.
    func ended() {
        let (isFirst, place, isMultiplexed) = state.withLock { state in
            defer { state.hasEnded = true }
            let isFirst = !state.hasEnded && state.connection != nil
            return (isFirst, state.place.take(), state.isMultiplexed)
        }
        if isFirst { queue.exchangeEnded(origin) }
        place?.leave(isMultiplexed: isMultiplexed)
        window.close()
    }

    /// The caller no longer waits, with or without a connection.
    func givenUp() {
        let (place, isMultiplexed) = state.withLock { ($0.place.take(), $0.isMultiplexed) }
        place?.leave(isMultiplexed: isMultiplexed)
        window.close()
    }

    func received(bytes: Int) { state.withLock { $0.bytesReceived += Int64(bytes) } }

    // MARK: Failures

    /// Adds the connection's details, and distinguishes stale from lost connections.
    func complete(_ error: TransportError) -> TransportError {
        let state = state.withLock { $0 }
        guard error.code != .deadlineExceeded else { return error }
        let error = error.code == .cancelled ? error : state.refusal ?? error
        guard Self.mayNeedFacts.contains(error.phase) else { return error }
        var complete = error
        if let explained = state.health?.explanation(of: error) { complete = explained }
        if complete.code == .protocolViolation, error.phase == .awaitHead, !state.hasResponse,
            state.connection?.isReused == true, state.isMultiplexed == false
        {
            // It may be the rest of an earlier response that arrived too late to be recognized. A
            // server that does not speak HTTP fails on a new connection as well.
            complete = TransportError(
                .staleConnection,
                processed: .maybe,
                url: error.url,
                cause: error.cause
            )
        }
        if complete.code == .connectionLost, error.phase == .awaitHead, !state.hasResponse {
            if state.connection?.isReused ?? error.isOfClosedChannel {
                complete = TransportError(
                    .staleConnection,
                    processed: state.bytesSent == 0 ? .no : .maybe,
                    url: error.url,
                    cause: error.cause
                )
            } else if state.connection == nil {
                // Lost while being opened; the server has not seen the request.
                complete = TransportError(
                    .connectionLost,
                    phase: .connect,
                    url: error.url,
                    cause: error.cause
                )
            }
        }
        complete.reusedConnection = state.connection?.isReused
        complete.bytesSent = state.bytesSent
        complete.bytesReceived = state.bytesReceived
        return complete
    }

    private static let mayNeedFacts: Set<TransportError.Phase?> = [
        .send, .awaitHead, .readBody, nil,
    ]
}

/// The cause of a request not sent because its connection is spoiled, or was used before although
/// the request wants a new one.
struct UsedConnection: Error {}

extension TransportError {
    /// The error of a skipped connection, on which nothing was sent.
    static var usedConnection: TransportError {
        TransportError(.staleConnection, processed: .no, cause: UsedConnection())
    }

    /// Whether the pool provided a connection that was already closed.
    fileprivate var isOfClosedChannel: Bool {
        (cause as? ChannelError) == .ioOnClosedChannel
    }
}

extension HTTPRequest {
    fileprivate var hostWithoutPort: String {
        var host = (authority ?? "")[...]
        if let end = host.lastIndex(of: "]") {
            host = host[host.index(after: host.startIndex)..<end]
        } else if let colon = host.lastIndex(of: ":") {
            host = host[..<colon]
        }
        return String(host)
    }
}

final class WaitingExchanges: Sendable {
    private let state = Mutex<(next: UInt64, waiting: [UInt64: Exchange])>((0, [:]))

    func begin(
        _ call: HTTPCall,
        _ prepared: OriginRequests.Prepared?,
        wantsNewConnection: Bool,
        _ queue: ConnectionQueue
    ) -> Exchange {
        state.withLock { state in
            state.next += 1
            let exchange = Exchange(
                number: state.next,
                call: call,
                prepared: prepared,
                wantsNewConnection: wantsNewConnection,
                queue
            )
            state.waiting[state.next] = exchange
            return exchange
        }
    }

    @discardableResult
    func take(_ number: UInt64) -> Exchange? {
        state.withLock { $0.waiting.removeValue(forKey: number) }
    }
}
#endif
