import HTTPTypes
public import KeelHTTP

extension NetworkClient {
    /// Returns a transport that opens connections through the layers of this client.
    ///
    /// ```swift
    /// let transport = client.webSocketTransport(over: NIOWebSocketTransport())
    /// let socket = ReconnectingWebSocket(to: request, over: transport)
    /// ```
    ///
    /// The upgrade request and its response pass the client's `Configuration.attemptMiddleware`, as a call to an `http`
    /// or `https` address: the request is signed, and signed once more if the server answers 401; cookies are sent and
    /// stored; limits and circuit breakers count it; and `Configuration.observers` see it. The client's
    /// `Configuration.defaultHeaders` are added if the address has the origin of the base URL, and its
    /// `Configuration.pins` replace those of the ``WebSocketConfiguration``, which also sets the time limits. Messages
    /// do not pass the layers.
    ///
    /// Redirects are not followed and nothing is retried. `Configuration.middleware` and `Configuration.hopMiddleware`
    /// are skipped because they share and store responses.
    ///
    /// If the client has pins and `transport` does not declare `HTTPTransportFeatures.pinning`, opening fails with
    /// ``WebSocketError/Code/transport``, caused by `TransportError.Code.invalidConfiguration`.
    public func webSocketTransport(
        over transport: some WebSocketTransport
    ) -> some WebSocketTransport {
        ClientWebSocketTransport(client: self, transport: transport)
    }
}

/// A transport whose requests pass the layers of a client.
struct ClientWebSocketTransport<Upstream: WebSocketTransport>: WebSocketTransport {
    let client: NetworkClient
    let transport: Upstream

    var features: HTTPTransportFeatures { transport.features }

    func withConnection<Value>(
        to request: HTTPRequest,
        configuration: WebSocketConfiguration,
        _ body: (WebSocketConnection) async throws -> Value
    ) async throws -> Value {
        var configuration = configuration
        configuration.pins = client.configuration.pins ?? configuration.pins
        try transport.demandPinning(for: configuration.pins)
        let upgrade = WebSocketUpgrade(over: transport, configuration)
        return try await withTaskCancellationHandler {
            do {
                let connection = try await open(request, upgrade, configuration)
                let value = try await body(connection)
                await upgrade.end(hasFailed: false)
                return value
            } catch {
                await upgrade.end(hasFailed: true)
                throw error
            }
        } onCancel: {
            upgrade.cancel()
        }
    }

    private func open(
        _ request: HTTPRequest,
        _ upgrade: WebSocketUpgrade,
        _ configuration: WebSocketConfiguration
    ) async throws(WebSocketError) -> WebSocketConnection {
        var settings = client.configuration
        settings.middleware = []
        settings.hopMiddleware = []
        settings.redirects = .never
        settings.retry = .never
        settings.timeouts = HTTPTimeouts()
        let (head, body): (HTTPResponse, [UInt8])
        do throws(TransportError) {
            let opener = NetworkClient(settings, transport: upgrade)
            var options = HTTPCallOptions()
            options.pin = configuration.pin
            let reply = try await opener.transfer(self.head(for: request), options: options)
            head = reply.head
            body = try await reply.body.collectPrefix(configuration.errorBodyLimit)
        } catch {
            if let known = error.cause as? WebSocketError { throw known }
            let lost = WebSocketError(transport: error)
            // The layers use the corresponding HTTP address.
            throw WebSocketError(
                lost.code,
                lost.message,
                url: request.redactedURL,
                cause: lost.cause
            )
        }
        if head.status == .switchingProtocols, let connection = upgrade.connection {
            return connection
        }
        throw WebSocketError(
            .upgradeRefused,
            response: WebSocketError.Response(
                head: head,
                body: body,
                isComplete: upgrade.refusal?.isComplete ?? true
            ),
            url: request.redactedURL
        )
    }

    /// Returns the request for the layers, with the header fields of all calls of the client.
    private func head(for request: HTTPRequest) -> HTTPRequest {
        var head = request
        head.scheme = request.scheme.map { $0.replacingWebSocketScheme }
        guard case .success(let base) = client.base,
            head.hasSameOrigin(
                as: HTTPRequest(
                    method: .get,
                    scheme: base.scheme,
                    authority: base.authority,
                    path: "/"
                )
            )
        else { return head }
        let fields = client.configuration.defaultHeaders
        for name in Set(fields.map(\.name)) where head.headerFields[name] == nil {
            head.headerFields[fields: name] = fields[fields: name]
        }
        return head
    }
}

extension String {
    /// The scheme with a WebSocket scheme replaced by its HTTP counterpart (RFC 6455 section 3).
    fileprivate var replacingWebSocketScheme: String {
        switch lowercased() {
        case "ws": "http"
        case "wss": "https"
        default: self
        }
    }
}
