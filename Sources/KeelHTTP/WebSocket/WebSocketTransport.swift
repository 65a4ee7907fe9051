public import HTTPTypes

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that opens WebSocket connections.
///
/// Apps call ``withConnection(to:configuration:_:)`` or keep a ``ReconnectingWebSocket``. A
/// transport promises that
///
/// - nothing of a connection outlives the call, whether the closure returns, throws or is cancelled;
/// - cancelling the calling task ends everything at once, opening included;
/// - redirects are not followed;
/// - the pins of a configuration are enforced before the request is sent, where ``features`` say so;
/// - every failure of opening is a ``WebSocketError`` with the one code that fits.
public protocol WebSocketTransport: Sendable {
    /// The features of this transport beyond opening connections: ``HTTPTransportFeatures/pinning``
    /// and ``HTTPTransportFeatures/clientCertificates`` have a meaning here. Nothing by default.
    ///
    /// ``ReconnectingWebSocket`` and ``NetworkClient/webSocketTransport(over:)`` refuse to open a
    /// connection with pins over a transport that does not declare that it enforces them.
    var features: HTTPTransportFeatures { get }

    /// Opens a connection, runs `body` with it, and closes it.
    ///
    /// When `body` returns, the connection is closed with ``WebSocketCloseCode/normal``, when it
    /// throws, with ``WebSocketCloseCode/goingAway``, unless it is closed already. Closing takes at
    /// most ``WebSocketConfiguration/closeTimeout``.
    ///
    /// - Parameters:
    ///   - request: The target, with the scheme `ws` or `wss`, and header fields such as
    ///     `Authorization`. The fields of the upgrade itself are added.
    ///   - configuration: The offers to the server, and the limits.
    ///   - body: The work on the connection.
    /// - Returns: The result of `body`.
    /// - Throws: ``WebSocketError`` if the connection was not opened, otherwise what `body` threw.
    func withConnection<Value>(
        to request: HTTPRequest,
        configuration: WebSocketConfiguration,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value
}

extension WebSocketTransport {
    public var features: HTTPTransportFeatures { [] }

    /// Throws if a connection with these pins would look protected and not be.
    func demandPinning(for pins: PublicKeyPins?) throws(WebSocketError) {
        guard pins != nil, !features.contains(.pinning) else { return }
        throw WebSocketError(
            transport: TransportError(
                .invalidConfiguration,
                "This transport of WebSockets cannot check pins; use one that can."
            )
        )
    }

    /// Opens a connection with the usual limits, runs `body` with it, and closes it.
    ///
    /// - Parameters:
    ///   - request: The target and the header fields.
    ///   - body: The work on the connection.
    /// - Returns: The result of `body`.
    /// - Throws: ``WebSocketError`` if the connection was not opened, otherwise what `body` threw.
    public func withConnection<Value>(
        to request: HTTPRequest,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        try await withConnection(to: request, configuration: WebSocketConfiguration(), body)
    }
}

extension HTTPRequest {
    /// Creates the request that opens a WebSocket connection.
    ///
    /// - Parameters:
    ///   - url: An address with the scheme `ws` or `wss`.
    ///   - headerFields: Fields of the app, such as `Authorization`.
    /// - Throws: ``WebSocketError/Code/invalidRequest`` for another scheme, a missing host, user
    ///   information or a fragment (RFC 6455 section 3).
    public init(webSocket url: URL, headerFields: HTTPFields = [:]) throws(WebSocketError) {
        let scheme = url.scheme?.lowercased()
        guard let scheme, scheme == "ws" || scheme == "wss",
            let host = url.host(percentEncoded: true),
            !host.isEmpty, url.user() == nil, url.password() == nil, url.fragment() == nil
        else { throw WebSocketError(.invalidRequest) }
        let place = host.contains(":") && !host.hasPrefix("[") ? "[\(host)]" : host
        let path = url.path(percentEncoded: true)
        let query = url.query(percentEncoded: true).map { "?\($0)" } ?? ""
        self.init(
            method: .get,
            scheme: scheme,
            authority: url.port.map { "\(place):\($0)" } ?? place,
            path: (path.isEmpty ? "/" : path) + query,
            headerFields: headerFields
        )
    }
}
