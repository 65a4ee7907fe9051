import HTTPTypes

extension NetworkClient {
    /// Returns a transport whose connections are opened with what this client promises.
    ///
    /// ```swift
    /// let transport = client.webSocketTransport(over: NIOWebSocketTransport())
    /// let socket = ReconnectingWebSocket(to: request, over: transport)
    /// ```
    ///
    /// The request that asks for the upgrade passes the client's ``Configuration/attemptMiddleware``
    /// as a call to an `http` or `https` address, and its answer, status 101 or a refusal, passes
    /// back. So it is signed, and signed anew once if the server answers 401; cookies are sent and
    /// kept; limits and circuit breakers count it; and ``Configuration/observers`` see it.
    /// The client's ``Configuration/defaultHeaders`` are added where the address has the origin of
    /// the base URL, and its ``Configuration/pins`` take the place of those of a
    /// ``WebSocketConfiguration``. Messages pass none of this.
    ///
    /// Redirects are not followed, nothing is repeated, and neither
    /// ``Configuration/middleware`` nor ``Configuration/hopMiddleware`` is asked: what they share
    /// and keep are responses. Limits of time are those of the ``WebSocketConfiguration``.
    ///
    /// - Parameter transport: The transport that opens the connections. Where the client has pins
    ///   and this transport does not declare ``HTTPTransportFeatures/pinning``, opening fails with
    ///   ``WebSocketError/Code/transport``, caused by ``TransportError/Code/invalidConfiguration``.
    /// - Returns: The transport.
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
        let (head, body): (HTTPResponse, [UInt8])
        do throws(TransportError) {
            let opener = NetworkClient(settings, transport: upgrade)
            let reply = try await opener.transfer(self.head(for: request))
            head = reply.head
            body = try await reply.body.collectPrefix(configuration.refusalBodyLimit)
        } catch {
            if let known = error.cause as? WebSocketError { throw known }
            let lost = WebSocketError(transport: error)
            // The layers know the address as one of HTTP.
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
            refusal: WebSocketError.Refusal(
                head: head,
                body: body,
                isComplete: upgrade.refusal?.isComplete ?? true
            ),
            url: request.redactedURL
        )
    }

    /// The request as the layers see it, with the fields that all calls of the client have.
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
    /// The scheme of HTTP that belongs to one of WebSocket (RFC 6455 section 3); others stay.
    fileprivate var replacingWebSocketScheme: String {
        switch lowercased() {
        case "ws": "http"
        case "wss": "https"
        default: self
        }
    }
}
