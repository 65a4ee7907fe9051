#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// The clients of several services, created from one configuration over one transport.
///
/// ```swift
/// extension NetworkClientProvider.Service {
///     static let auth: Self = "auth"
///     static let diary: Self = "diary"
/// }
/// // …
/// let network = NetworkClientProvider(
///     [.auth: authAddress, .diary: diaryAddress],
///     transport: transport
/// ) { service, configuration in
///     configuration.json = .snakeCase
///     if service != .auth { configuration.authorize(with: session) }
/// }
/// let login = network.client(for: .auth, operations: AuthEndpoint.self)
/// let diary = network.client(for: .diary)
/// ```
///
/// The base URL, credentials and default header fields belong to the client of one service; connections are shared.
public struct NetworkClientProvider: Sendable {
    /// The name of a service.
    public struct Service: Hashable, Sendable, ExpressibleByStringLiteral, CustomStringConvertible {
        public let description: String

        /// Creates a name.
        public init(_ name: String) { description = name }

        public init(stringLiteral value: String) { self.init(value) }
    }

    private let clients: [Service: NetworkClient]
    private let transport: any HTTPTransport

    /// Creates the clients; `configure` adjusts the configuration of each and is called once per service.
    public init(
        _ services: [Service: URL],
        transport: any HTTPTransport,
        configure: (Service, inout NetworkClient.Configuration) -> Void = { _, _ in }
    ) {
        var clients: [Service: NetworkClient] = [:]
        for (service, address) in services {
            var configuration = NetworkClient.Configuration(baseURL: address)
            configure(service, &configuration)
            clients[service] = NetworkClient(configuration, transport: transport)
        }
        self.clients = clients
        self.transport = transport
    }

    /// The names of the services, in alphabetical order.
    public var services: [Service] {
        clients.keys.sorted { $0.description < $1.description }
    }

    /// Returns the client of a service.
    ///
    /// Every call of an unknown service's client fails with ``TransportError/Code/invalidConfiguration``.
    public func client(for service: Service) -> NetworkClient {
        if let client = clients[service] { return client }
        let error = TransportError(
            .invalidConfiguration,
            "There is no service named '\(service)'. Pass its base URL to the provider."
        )
        return .unavailable(error)
    }

    /// Returns the client of a service whose operations form an enumeration; `errorBodies` are the types of its error
    /// bodies.
    public func client<Operations: ServiceEndpoint>(
        for service: Service,
        operations: Operations.Type,
        errorBodies: [ErrorBody] = []
    ) -> ServiceClient<Operations> {
        ServiceClient(client(for: service), errorBodies: errorBodies)
    }

    /// Shuts down the transport, and with it all clients.
    public func shutdown() async { await transport.shutdown() }
}

extension NetworkClient {
    /// Returns a client whose every call fails with `error`, before anything is sent.
    package static func unavailable(_ error: TransportError) -> NetworkClient {
        // Any valid address will do. An invalid one would be the error of every call.
        let nowhere = URL(string: "https://service.invalid") ?? URL(filePath: "/")
        var configuration = Configuration(baseURL: nowhere)
        configuration.retry = .never
        return NetworkClient(configuration, transport: UnavailableHTTPTransport(error))
    }
}

/// A transport whose every call fails with the same error.
///
/// Use it in tests and previews, or in place of a transport that could not be created.
public struct UnavailableHTTPTransport: HTTPTransport {
    private let error: TransportError

    /// Creates a transport that fails with `error`.
    public init(_ error: TransportError) { self.error = error }

    /// All features, so that every call gets as far as the error.
    public var features: HTTPTransportFeatures {
        [
            .streamingUpload, .pinning, .connectionInfo, .trailers, .clientCertificates,
            .rawContentCoding, .exchangeEvents,
        ]
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply { throw error }

    public func shutdown() async {}
}
