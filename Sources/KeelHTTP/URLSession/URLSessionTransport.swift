#if canImport(Darwin) || URLSession
import HTTPTypes
import Synchronization

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport on URLSession: the usual one on Apple's systems.
///
/// - Important: It has not run on Apple's systems yet, because the project's machines run Linux.
///   There it compiles with the trait `URLSession`, and does not work: Foundation does not call the
///   delegate of a single task.
///
/// | feature | |
/// |---|---|
/// | streaming responses | yes, held back beyond 1 MiB that nobody has read |
/// | streaming requests | no: the body is collected in memory first, at most 64 MiB |
/// | content coding | removed by URLSession, which cannot be asked not to |
/// | trailers, pinning, client certificates, connection information | no |
///
/// URLSession itself may repeat an idempotent request on a connection that had gone stale.
public final class URLSessionTransport: HTTPTransport {
    private let session: URLSession
    private let isShutDown = Mutex(false)

    public let features: HTTPTransportFeatures = []

    /// Creates a transport with a session of its own.
    ///
    /// - Parameter configuration: The default keeps neither cache nor cookies on disk.
    public init(_ configuration: URLSessionConfiguration = .ephemeral) {
        session = URLSession(configuration: configuration)
    }

    deinit {
        session.invalidateAndCancel()
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !isShutDown.withLock({ $0 }) else { throw TransportError(.clientShutdown) }
        let task = session.dataTask(with: try await request(for: call))
        let exchange = URLSessionExchange(task)
        task.delegate = exchange
        let start: @Sendable () async throws(TransportError) -> HTTPResponse = {
            () async throws(TransportError) in try await exchange.head()
        }
        do throws(TransportError) {
            let head =
                if let limit = call.timeouts.firstByte {
                    try await Deadline(in: limit, on: ContinuousClock()).run(
                        throwing: TransportError(.responseTimeout),
                        start
                    )
                } else {
                    try await start()
                }
            let handle = URLSessionBodyHandle(exchange)
            let body = HTTPByteStream { () async throws(TransportError) in
                try await handle.exchange.nextChunk()
            }
            return HTTPReply(head: head, body: body)
        } catch {
            exchange.cancel()
            throw error.located(at: call.redactedURL)
        }
    }

    public func shutdown() async {
        isShutDown.withLock { $0 = true }
        session.invalidateAndCancel()
    }

    private func request(for call: HTTPCall) async throws(TransportError) -> URLRequest {
        let head = call.head
        guard let scheme = head.scheme, let authority = head.authority, let path = head.path,
            let url = URL(string: "\(scheme)://\(authority)\(path)")
        else {
            throw TransportError(.invalidRequest, url: call.redactedURL)
        }
        var request = URLRequest(url: url)
        request.httpMethod = head.method.rawValue
        for field in head.headerFields {
            request.addValue(field.value, forHTTPHeaderField: field.name.rawName)
        }
        // URLSession knows one limit on silence; without a wish of the call's it is out of the way.
        request.timeoutInterval = (call.timeouts.idle ?? .seconds(604_800)) / .seconds(1)
        if let body = call.body {
            request.httpBody = Data(try await body.open().collect(upTo: 64 << 20))
        }
        return request
    }
}

/// Cancels an exchange when the last holder of its body is gone.
private final class URLSessionBodyHandle: Sendable {
    let exchange: URLSessionExchange

    init(_ exchange: URLSessionExchange) {
        self.exchange = exchange
    }

    deinit {
        exchange.cancel()
    }
}
#endif
