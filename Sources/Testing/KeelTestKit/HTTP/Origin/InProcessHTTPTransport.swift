import HTTPTypes
public import KeelHTTP
import Synchronization

/// The transport of an ``InProcessHTTPNetwork``.
public final class InProcessHTTPTransport: HTTPTransport {
    public let features: HTTPTransportFeatures = [
        .streamingUpload, .pinning, .connectionInfo, .trailers, .clientCertificates,
        .rawContentCoding,
    ]

    private let network: InProcessHTTPNetwork
    private let access: HTTPTestAccess
    private let clock: any Clock<Duration>
    private let isShutDown = Watched(false)
    private let idle = Mutex<[String: [Int]]>([:])

    init(
        _ network: InProcessHTTPNetwork,
        _ access: HTTPTestAccess,
        _ clock: any Clock<Duration>
    ) {
        self.network = network
        self.access = access
        self.clock = clock
    }

    public func shutdown() async {
        isShutDown.change { $0 = true }
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            guard !isShutDown.value else { throw TransportError(.clientShutdown, processed: .no) }
            if Task.isCancelled { throw TransportError(.cancelled, phase: .pool) }
            let host = try host(of: call)
            try InProcessHandshake(host.script, access).check()
            let (connection, isReused) = take(host)
            let exchange = InProcessExchange(
                call,
                host,
                on: connection,
                isReused: isReused,
                isShutDown: isShutDown
            ) { [self] in
                idle.withLock { $0[host.authority, default: []].append(connection) }
            }
            let start: @Sendable () async throws(TransportError) -> HTTPReply = {
                () async throws(TransportError) in try await exchange.head(clock: self.clock)
            }
            guard let limit = call.timeouts.firstByte else { return try await start() }
            return try await Deadline(in: limit, on: clock).run(
                throwing: TransportError(.responseTimeout, phase: .awaitHead),
                start
            )
        } catch {
            throw error.located(at: call.redactedURL)
        }
    }

    private func host(of call: HTTPCall) throws(TransportError) -> InProcessHTTPNetwork.Host {
        guard let authority = call.head.authority, !authority.isEmpty, call.head.path != nil else {
            throw TransportError(.invalidRequest)
        }
        if authority.hasSuffix(".invalid") { throw TransportError(.hostNotFound) }
        guard let host = network.host(authority) else {
            throw TransportError(.connectionRefused)
        }
        return host
    }

    private func take(_ host: InProcessHTTPNetwork.Host) -> (Int, Bool) {
        let free = idle.withLock { $0[host.authority]?.popLast() }
        guard let free else { return (host.journal.change { $0.open() }, false) }
        return (free, true)
    }
}

private struct InProcessHandshake {
    private let script: HTTPTestScript
    private let access: HTTPTestAccess

    init(_ script: HTTPTestScript, _ access: HTTPTestAccess) {
        self.script = script
        self.access = access
    }

    func check() throws(TransportError) {
        switch script.security {
        case .none: return
        case .expired, .notYetValid, .selfSigned, .unknownAuthority:
            throw TransportError(.tlsUntrusted)
        case .wrongHost: throw TransportError(.tlsHostnameMismatch)
        case .plainText, .garbage, .closingHandshake:
            throw TransportError(.tlsHandshakeFailed)
        case .resettingHandshake: throw TransportError(.connectionLost, phase: .tls)
        case .stallingHandshake: throw TransportError(.connectTimeout)
        case .clientCertificate where script.client != .known:
            throw TransportError(.tlsClientCertificate)
        case .trusted, .clientCertificate: break
        }
        if !access.pins.isEmpty, !access.pins.contains([1]) {
            throw TransportError(.tlsPinMismatch)
        }
    }
}
