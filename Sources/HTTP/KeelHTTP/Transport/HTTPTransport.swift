/// A type that carries one HTTP request to a server and returns the response.
///
/// Apps use ``NetworkClient``; a transport only moves bytes. It promises that
///
/// - ``send(_:)`` returns at the head of the final response;
/// - it never follows a redirect, repeats a request, or decodes or decompresses a body;
/// - over HTTP/1.1, all cookies of a request are in one field, joined by `"; "` (RFC 6265 section 5.4);
/// - each `Set-Cookie` field of a response remains a separate field (RFC 9110 section 5.3);
/// - dropping a response body before its end cancels the exchange;
/// - canceling the task that waits in ``send(_:)`` or in a body ends the wait soon, with the code
///   ``TransportError/Code/cancelled``;
/// - every failure has the most specific code that fits, with `unknown` as the last resort.
///
/// A transport enforces ``HTTPTimeouts/firstByte`` and ``HTTPTimeouts/idle``; the client enforces the other limits.
public protocol HTTPTransport: Sendable {
    /// The features of this transport beyond the plain exchange.
    var features: HTTPTransportFeatures { get }

    /// Sends the request and returns once the head of the final response has arrived.
    ///
    /// The request body may still be in transit, because a server may answer early.
    ///
    /// - Throws: ``TransportError``, with the phase that failed and whether the server may have acted on the request.
    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply

    /// Closes all connections; later calls, and those that wait for a response head, fail with
    /// ``TransportError/Code/clientShutdown``.
    ///
    /// Further calls of this method have no effect.
    func shutdown() async
}

/// The features of a transport beyond the plain exchange.
public struct HTTPTransportFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Request bodies are sent as they are produced rather than collected first.
    public static let streamingUpload = Self(rawValue: 1 << 0)
    /// The pins in ``HTTPCallOptions/pins`` are enforced before a request is sent.
    public static let pinning = Self(rawValue: 1 << 1)
    /// Replies have a ``HTTPReply/connection``.
    public static let connectionInfo = Self(rawValue: 1 << 2)
    /// Response trailers are delivered.
    public static let trailers = Self(rawValue: 1 << 3)
    /// The client can present a certificate of its own.
    public static let clientCertificates = Self(rawValue: 1 << 4)
    /// Bodies arrive as the server sent them, with their content coding intact.
    public static let rawContentCoding = Self(rawValue: 1 << 5)
    /// The steps of an exchange are reported as events: connected, head sent, body sent.
    public static let exchangeEvents = Self(rawValue: 1 << 6)
}

/// A transport that adds layers to the clients that use it, for what apps expect of a client but a transport must not
/// do, such as decompression.
package protocol LayeringTransport: Sendable {
    /// The layers, which a client puts below those of the app.
    var clientLayers: [any HTTPMiddleware] { get }
}
