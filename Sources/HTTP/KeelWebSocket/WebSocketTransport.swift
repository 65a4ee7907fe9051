public import HTTPTypes
public import KeelHTTP

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A type that opens WebSocket connections.
///
/// Apps call ``withConnection(to:configuration:_:)`` or use a ``ReconnectingWebSocket``. A transport promises that
///
/// - no part of a connection outlives the call, whether the closure returns, throws or is canceled;
/// - canceling the calling task ends everything immediately, including opening;
/// - redirects are not followed;
/// - the pins of a configuration are enforced before the request is sent, if ``features`` declares it;
/// - every failure to open is a ``WebSocketError`` with the most specific code.
public protocol WebSocketTransport: Sendable {
    /// The features of this transport beyond opening connections; empty by default.
    ///
    /// Only `HTTPTransportFeatures.pinning` and `HTTPTransportFeatures.clientCertificates` apply to WebSockets. Without
    /// the former, ``ReconnectingWebSocket`` and `NetworkClient.webSocketTransport(over:)` refuse to open a connection
    /// with pins.
    var features: HTTPTransportFeatures { get }

    /// Opens a connection, runs `body` with it, and closes it.
    ///
    /// A connection that is not yet closed is closed with ``WebSocketCloseCode/normal`` when `body` returns, and with
    /// ``WebSocketCloseCode/goingAway`` when `body` throws. Closing takes at most
    /// ``WebSocketConfiguration/closeTimeout``.
    ///
    /// - Parameters:
    ///   - request: The target, with the scheme `ws` or `wss`, and header fields such as `Authorization`. The transport
    ///     adds the upgrade's own fields.
    ///   - configuration: The offers to the server, and the limits.
    ///   - body: The work on the connection.
    /// - Returns: The result of `body`.
    /// - Throws: ``WebSocketError`` if the connection was not opened, otherwise the error of `body`.
    func withConnection<Value>(
        to request: HTTPRequest,
        configuration: WebSocketConfiguration,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value
}

extension WebSocketTransport {
    public var features: HTTPTransportFeatures { [] }

    /// Throws if a connection with these pins would only seem to be protected.
    func demandPinning(for pins: PublicKeyPins?) throws(WebSocketError) {
        guard pins != nil, !features.contains(.pinning) else { return }
        throw WebSocketError(
            transport: TransportError(
                .invalidConfiguration,
                "This WebSocket transport does not support pinning. Use one that does."
            )
        )
    }

    /// Opens a connection with the default configuration, runs `body` with it, and closes it.
    public func withConnection<Value>(
        to request: HTTPRequest,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        try await withConnection(to: request, configuration: WebSocketConfiguration(), body)
    }
}

extension HTTPRequest {
    /// Creates the request that opens a WebSocket connection, with header fields of the app such as `Authorization`.
    ///
    /// - Throws: ``WebSocketError/Code/invalidRequest`` for a scheme other than `ws` and `wss`, a missing host, user
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
