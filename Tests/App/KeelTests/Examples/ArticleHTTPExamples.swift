import Foundation
import HTTPTypes
import Keel
import KeelHTTPAuthentication
import KeelWebSocket

/// Examples from the articles of KeelHTTP and KeelRepositories; see ``ArticleExamples``.
enum ArticleHTTPExamples {
    struct Restaurant: Codable, Identifiable, Sendable {
        var id: String
        var name: String
    }

    struct RestaurantDTO: Codable, Identifiable, Sendable, DomainConvertible, DomainRepresentable {
        var id: String
        var name: String?

        func toDomain() throws(MappingError) -> Restaurant {
            Restaurant(id: id, name: try FieldMapper(of: id).text(name, "name"))
        }

        init(domain restaurant: Restaurant) {
            id = restaurant.id
            name = restaurant.name
        }
    }

    struct GetRestaurant: Endpoint {
        typealias Response = RestaurantDTO
        let id: String
        var path: EndpointPath { "/restaurants/\(id)" }
    }

    struct GetRestaurants: Endpoint {
        typealias Response = [RestaurantDTO]
        var path: EndpointPath { "/restaurants" }
    }

    struct GetProfile: Endpoint {
        typealias Response = Restaurant
        var path: EndpointPath { "/profile" }
    }

    struct PlaceOrder: Endpoint {
        typealias Response = Restaurant
        let cart: [String]
        init(_ cart: [String]) { self.cart = cart }
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/orders" }
    }

    struct WatchOrders: ServiceEndpoint {
        var path: EndpointPath { "/orders/changes" }
    }

    struct GetLog: ServiceEndpoint {
        var path: EndpointPath { "/log" }
    }

    struct Downloads {
        func removeAll() async throws {}
    }

    static func show(_ what: Any?...) {}
    static func handle(_ what: Any) {}
    static func signIn() {}
    static func keepForLater(_ cart: [String]) {}
    static func askWhatBecameOfTheOrder() {}
    static func logIn(_ email: String, _ password: String) async throws -> BearerCredentials {
        BearerCredentials(accessToken: email, refreshToken: password)
    }

    static func overview(_ url: URL, _ transport: any HTTPTransport) async {
        struct GetRestaurant: Endpoint {
            typealias Response = Restaurant
            let id: String
            var path: EndpointPath { "/restaurants/\(id)" }
        }

        let client = NetworkClient(baseURL: url, transport: transport)
        do throws(NetworkError) {
            show(try await client.request(GetRestaurant(id: "42")))
        } catch {
            show(error.message, error.recoverySuggestion)
        }
    }

    static func errors(_ client: NetworkClient, _ cart: [String]) async {
        var receipt: Restaurant?
        do throws(NetworkError) {
            receipt = try await client.request(PlaceOrder(cart))
        } catch {
            switch error.code {
            case .noConnection: keepForLater(cart)  // nothing was sent
            case .unauthorized: signIn()
            default: show(error.message, error.recoverySuggestion)
            }
            if error.transportError?.processed == .maybe { askWhatBecameOfTheOrder() }
        }
        show(receipt)
    }

    static func authentication(
        _ identity: NetworkClient,
        _ url: URL,
        _ transport: some HTTPTransport,
        _ store: SecretCredentialStore<BearerCredentials>,
        _ email: String,
        _ password: String
    ) async throws {
        let session = AuthSession(
            server: OAuthIdentityServer(
                identity,
                path: "/oauth/token",
                fields: ["client_id": "app"]
            ),
            store: store
        )
        var configuration = NetworkClient.Configuration(baseURL: url)
        configuration.authorize(with: session)
        let client = NetworkClient(configuration, transport: transport)

        try await session.signIn { try await logIn(email, password) }
        let profile = try await client.request(GetProfile())
        try await session.signOut()
        show(profile)
    }

    static func signingOut(_ session: AuthSession<BearerCredentials>, _ downloads: Downloads) {
        session.onSignOut("downloads") { _ in try await downloads.removeAll() }
    }

    static func events(_ client: NetworkClient) async throws {
        for try await event in client.eventStream(WatchOrders()) {
            show(event.type, event.data)
        }
    }

    static func lines(_ client: NetworkClient) async throws {
        let reply = try await client.stream(GetLog())
        for try await line in reply.body.lines() { handle(line) }
    }

    static func webSocket(_ url: URL, _ transport: some WebSocketTransport) async throws {
        let request = try HTTPRequest(webSocket: url)
        try await transport.withConnection(to: request) { connection in
            try await connection.send("hello")
            for try await message in connection.messages { handle(message) }
        }
    }

    static func reconnecting(
        _ request: HTTPRequest,
        _ transport: some WebSocketTransport
    ) async throws {
        let socket = ReconnectingWebSocket(to: request, over: transport)
        try await socket.run { connection in
            try await connection.send("subscribe")
            for try await message in connection.messages { handle(message) }
        }
    }

    static func webSocketOfClient(
        _ client: NetworkClient,
        _ request: HTTPRequest,
        _ transport: some WebSocketTransport
    ) async throws {
        let signed = client.webSocketTransport(over: transport)
        let socket = ReconnectingWebSocket(to: request, over: signed)
        try await socket.run { _ in }
    }

    static func repositories(_ client: NetworkClient, _ storage: StorageClient) async throws {
        let restaurants = EntityRepository<Restaurant>(
            "restaurants",
            remote: RemoteEntities<RestaurantDTO>(RemoteDataSource(client))
                .find { GetRestaurant(id: $0) }
                .all { GetRestaurants() },
            local: CollectionDataSource(storage.collection("restaurants", as: RestaurantDTO.self)),
            loader: ResourceLoader(
                ledger: CollectionFetchLedger(storage),
                memory: ResourceMemory(.bytes(8 << 20))
            ),
            id: { $0.id }
        )
        let all = try await restaurants.all(.cacheFirst(maxAge: .seconds(3600)))
        for await state in restaurants.observe("42") { show(state) }
        show(all)
    }
}
