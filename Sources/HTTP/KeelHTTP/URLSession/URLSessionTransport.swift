#if canImport(Darwin) || URLSession
import HTTPTypes
import KeelCore
import Synchronization

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// A transport based on URLSession, the usual choice on Apple's platforms.
///
/// - Important: It has not run on Apple's platforms yet, because the project's machines run Linux. There it exists with
///   the trait `URLSession`, passes the transport checks that apply to it, and distinguishes fewer failures. Use it
///   there for comparison, not in production.
///
/// | feature | |
/// |---|---|
/// | streaming responses | yes; suspended at 1 MiB of unread bytes, on Linux read ahead |
/// | files as requests | sent by the system, with the progress that it reports |
/// | other streaming requests | yes, at most 512 KiB ahead of the session; on Linux collected first |
/// | content coding | always decoded by URLSession |
/// | idle limit | one for the whole exchange, also before the head |
/// | pinning | yes, once per connection; on Linux no |
/// | trailers, client certificates, connection information | no |
///
/// A body is sent as a file if it is one, see ``HTTPBody/file(_:)``, and no observer needs its chunks; a form with
/// files is produced while it is sent. On Linux, a body of more than 64 MiB that is produced while it is sent fails,
/// and a ``TransferObserver`` reports a body as sent once it has been collected.
///
/// Calls with pins have separate connections for each set of pins. A mismatch is reported once per attempted
/// connection, not per call. URLSession itself can repeat an idempotent request on a stale connection.
public final class URLSessionTransport: HTTPTransport {
    private let sessions: URLSessionPool
    private let isShutDown = Mutex(false)

    #if canImport(Darwin)
    public let features: HTTPTransportFeatures = [.streamingUpload, .pinning]
    #else
    public let features: HTTPTransportFeatures = []
    #endif

    /// Creates a transport with its own session, without cookies and cache.
    public init(_ configuration: URLSessionConfiguration = .ephemeral) {
        configuration.httpCookieStorage = nil
        configuration.httpShouldSetCookies = false
        configuration.urlCache = nil
        sessions = URLSessionPool(configuration)
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !isShutDown.withLock({ $0 }) else { throw Self.isGone }
        let exchange = try await exchange(for: call)
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
                do throws(TransportError) {
                    return try await handle.exchange.nextChunk()
                } catch {
                    throw self.translated(error)
                }
            }
            return HTTPReply(head: head, body: body)
        } catch {
            exchange.cancel()
            throw translated(error).located(at: call.redactedURL)
        }
    }

    private func translated(_ error: TransportError) -> TransportError {
        // Shutting down cancels exchanges in progress; that is not a cancellation by the caller.
        guard error.code == .cancelled, !Task.isCancelled, isShutDown.withLock({ $0 }) else {
            return error
        }
        return TransportError(.clientShutdown, phase: error.phase)
    }

    private static var isGone: TransportError { TransportError(.clientShutdown, processed: .no) }

    public func shutdown() async {
        isShutDown.withLock { $0 = true }
        sessions.invalidate()
    }

    private func exchange(for call: HTTPCall) async throws(TransportError) -> URLSessionExchange {
        var request = try request(for: call)
        #if canImport(Darwin)
        let pins = call.options.pins
        #else
        // URLSession on Linux does not present server certificates.
        let pins: PublicKeyPins? = nil
        #endif
        guard let body = call.body else { return try begin(pins) { $0.dataTask(with: request) } }
        if let file = body.file {
            _ = try file.opened()
            let exchange = try begin(pins) { session in
                session.uploadTask(with: request, fromFile: URL(filePath: file.path))
            }
            exchange.send(file)
            return exchange
        }
        #if canImport(Darwin)
        if body.bytes == nil {
            // Without a length, URLSession sends the body in chunks.
            if let length = body.length {
                request.setValue("\(length)", forHTTPHeaderField: "Content-Length")
            }
            let exchange = try begin(pins) { $0.uploadTask(withStreamedRequest: request) }
            exchange.send(body)
            return exchange
        }
        #endif
        do throws(TransportError) {
            request.httpBody = Data(
                try await body.open().collect(upTo: body.bytes?.count ?? 64 << 20)
            )
        } catch {
            guard !error.isCancellation else { throw error }
            throw TransportError(.bodyProducerFailed, cause: error)
        }
        return try begin(pins) { $0.dataTask(with: request) }
    }

    private func begin(
        _ pins: PublicKeyPins?,
        _ task: (URLSession) -> URLSessionTask
    ) throws(TransportError) -> URLSessionExchange {
        guard let exchange = sessions.begin(pins, task) else { throw Self.isGone }
        return exchange
    }

    private func request(for call: HTTPCall) throws(TransportError) -> URLRequest {
        guard var request = URLRequest(call.head) else {
            throw TransportError(.invalidRequest, url: call.redactedURL)
        }
        // URLSession has a single stall timeout; a week stands for no limit.
        request.timeoutInterval = (call.timeouts.idle ?? .seconds(604_800)) / .seconds(1)
        return request
    }
}

/// A handle that cancels an exchange when the last reference to its body is released.
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
