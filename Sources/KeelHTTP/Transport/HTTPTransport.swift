/// A type that carries one HTTP request to a server and brings the answer back.
///
/// Apps use ``NetworkClient``; a transport moves bytes and nothing more. It promises that
///
/// - ``send(_:)`` returns at the final response head; informational (1xx) responses stay inside;
/// - it never follows a redirect, repeats a request, decodes or decompresses a body;
/// - each `Set-Cookie` field of a response is a field of its own (RFC 9110 section 5.3);
/// - dropping a response body that was not read to its end cancels the exchange;
/// - cancelling the task that waits in ``send(_:)`` or in a body ends the wait soon, with the code
///   ``TransportError/Code/cancelled``;
/// - every failure is reported with the one code that fits, and `unknown` is the last resort.
///
/// The total time limit is the client's business; a transport obeys ``HTTPCall/timeouts``.
public protocol HTTPTransport: Sendable {
    /// The features of this transport beyond the plain exchange.
    var features: HTTPTransportFeatures { get }

    /// Sends the request and returns once the head of the final response has arrived.
    ///
    /// The request body may still be on its way when this returns: a server may answer early.
    ///
    /// - Throws: ``TransportError``, with the phase that failed and whether the server may have
    ///   acted on the request.
    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply

    /// Closes all connections and refuses later calls with
    /// ``TransportError/Code/clientShutdown``.
    ///
    /// Calling it again does nothing.
    func shutdown() async
}

/// The features of a transport beyond the plain exchange.
public struct HTTPTransportFeatures: OptionSet, Sendable, Hashable {
    public let rawValue: Int

    public init(rawValue: Int) {
        self.rawValue = rawValue
    }

    /// Request bodies are sent as they are produced, not collected first.
    public static let streamingUpload = Self(rawValue: 1 << 0)
    /// The pins in ``HTTPCallOptions/pins`` are enforced before a request is sent.
    public static let pinning = Self(rawValue: 1 << 1)
    /// ``HTTPReply/connection`` is filled in.
    public static let connectionInfo = Self(rawValue: 1 << 2)
    /// Response trailers are delivered.
    public static let trailers = Self(rawValue: 1 << 3)
    /// The client can show a certificate of its own.
    public static let clientCertificates = Self(rawValue: 1 << 4)
    /// Bodies arrive as the server sent them, with their content coding intact.
    public static let rawContentCoding = Self(rawValue: 1 << 5)
    /// The moments of an exchange are told as events: connected, head sent, body sent.
    public static let exchangeMoments = Self(rawValue: 1 << 6)
}
