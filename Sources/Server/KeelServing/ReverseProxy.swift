import HTTPTypes
public import KeelHTTP
import Synchronization

/// A handler that forwards each request to an origin and returns its response.
///
/// With a caching transport, the proxy is a cache for any origin. Connection-specific header fields are not forwarded
/// in either direction (RFC 9110 section 7.6.1), and `Host` names the origin. `Via` names the proxy (section 7.6.3). A
/// transport error before the response is answered with status 502, and a timeout with 504 (RFC 9110 sections 15.6.3
/// and 15.6.5). Interim responses of the origin, such as 103 (RFC 8297), are forwarded immediately if the transport
/// reports them.
///
/// Only targets in origin form, a path with a leading slash (RFC 9112 section 3.2.1), are forwarded; others are
/// answered with status 400.
public struct ReverseProxy: ServingHandler {
    private let scheme: String
    private let authority: String
    private let transport: any HTTPTransport
    private let timeout: Duration?
    private let clock: any Clock<Duration>

    /// Creates a proxy.
    ///
    /// - Parameters:
    ///   - scheme: The origin's scheme, `http` or `https`.
    ///   - authority: The origin's host, with its port if it is not the scheme's default.
    ///   - transport: The transport to the origin.
    ///   - timeout: How long the origin may be silent, before its response and between the parts of the body; nil for
    ///     no limit. For a request with a body, the wait for the response begins when the body has been sent, and ends
    ///     after one to two times the limit.
    ///   - clock: The clock for that wait; the transport limits the others.
    public init(
        scheme: String,
        authority: String,
        transport: any HTTPTransport,
        timeout: Duration? = .seconds(60),
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.scheme = scheme
        self.authority = authority
        self.transport = transport
        self.timeout = timeout
        self.clock = clock
    }

    public func respond(to call: HTTPCall) async -> HTTPReply {
        guard let path = call.head.path, path.utf8.first == UInt8(ascii: "/") else {
            return .text(.badRequest, "The target must be a path that begins with a slash.\n")
        }
        var outgoing = call
        outgoing.head.scheme = scheme
        outgoing.head.authority = authority
        outgoing.head.headerFields = call.head.headerFields.endToEnd
        outgoing.head.headerFields[.contentLength] = nil
        outgoing.head.headerFields.append(HTTPField(name: .via, value: "1.1 keel"))
        if let pass = call.onInterimResponse {
            outgoing.onInterimResponse = { head in
                var head = head
                head.headerFields = head.headerFields.endToEnd
                pass(head)
            }
        }
        do throws(TransportError) {
            var reply = try await reply(to: outgoing)
            reply.head.headerFields = reply.head.headerFields.endToEnd
            return reply
        } catch {
            let isTimeout = Self.timeouts.contains(error.code)
            return .text(isTimeout ? .gatewayTimeout : .badGateway, "\(error.message)\n")
        }
    }

    private func reply(to call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard let timeout else { return try await transport.send(call) }
        var call = call
        call.timeouts.idle = timeout
        guard let body = call.body else {
            call.timeouts.firstByte = timeout
            return try await transport.send(call)
        }
        // The first-byte limit of a transport includes sending the body, which takes as long as the client needs.
        let isSent = Mutex(false)
        call.body = body.reportingEnd { isSent.withLock { $0 = true } }
        let sending = call
        var isSilent = false
        let result = await withStallTimeout(
            timeout,
            on: clock,
            moments: { isSent.withLock { $0 ? 0 : nil } },
            onStall: { isSilent = true },
            { () async throws(TransportError) in try await transport.send(sending) }
        )
        // The response may have arrived just as the exchange was canceled.
        guard isSilent, case .failure = result else { return try result.get() }
        throw TransportError(.responseTimeout)
    }

    private static let timeouts: Set<TransportError.Code> = [
        .attemptTimeout, .connectTimeout, .deadlineExceeded, .poolTimeout, .responseTimeout,
        .writeTimeout,
    ]
}

extension HTTPBody {
    /// Returns the body, which reports that its last byte has been read.
    fileprivate func reportingEnd(_ report: @escaping @Sendable () -> Void) -> HTTPBody {
        HTTPBody(
            length: length,
            isReplayable: isReplayable
        ) { [length, open] () async throws(TransportError) in
            let count = Mutex<Int64>(0)
            return try await open().mapReads { read async throws(TransportError) in
                let piece = try await read()
                let total = count.withLock { count in
                    count += Int64(piece?.count ?? 0)
                    return count
                }
                if piece == nil || total == length { report() }
                return piece
            }
        }
    }
}

extension HTTPFields {
    private static let singleConnection: Set<String> = [
        "connection", "host", "keep-alive", "proxy-authenticate", "proxy-authorization",
        "proxy-connection", "te", "trailer", "transfer-encoding", "upgrade",
    ]

    /// The fields without connection-specific fields and without the fields named by `Connection`.
    var endToEnd: HTTPFields {
        let named = self[values: .connection].flatMap { $0.split(separator: ",") }.map {
            $0.filter { !$0.isWhitespace }.lowercased()
        }
        let dropped = Self.singleConnection.union(named)
        return HTTPFields(filter { !dropped.contains($0.name.canonicalName) })
    }
}
