import Foundation
import HTTPTypes
import Keel
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCookies
import KeelNetworkStatus
import KeelTestKit
import KeelURITemplates
import KeelWebSocket
import KeelWebSocketNIO
import Testing

/// Examples from the comments of KeelHTTP; compiled but not run, see ``CommentExamples``.
extension CommentExamples {
    static func authSession(
        _ client: NetworkClient,
        _ store: any CredentialStore<BearerCredentials>,
        _ email: String,
        _ password: String
    ) async throws {
        var configuration = client.configuration
        let session = AuthSession(server: OAuthIdentityServer(client, path: "/token"), store: store)
        try await session.signIn { try await login(email, password) }
        configuration.authorize(with: session)  // signs the calls of a client
        for await state in session.states { show(state) }
        try await session.signOut()
        _ = configuration
    }

    static func oAuthIdentityServer(
        _ client: NetworkClient,
        _ store: any CredentialStore<BearerCredentials>
    ) async throws {
        let server = OAuthIdentityServer(client, path: "/oauth/token", fields: ["client_id": "app"])
        let session = AuthSession(server: server, store: store)
        _ = server
        _ = session
    }

    static func firebaseIdentityServer(
        _ key: String,
        _ transport: any HTTPTransport,
        _ store: any CredentialStore<BearerCredentials>,
        _ email: String,
        _ password: String
    ) async throws {
        let firebase = FirebaseIdentityServer(apiKey: key, transport: transport)
        let session = AuthSession(server: firebase, store: store)
        try await session.signIn { try await firebase.signIn(email: email, password: password) }
    }

    static func networkClient(_ address: URL, _ transport: any HTTPTransport) async throws {
        var configuration = NetworkClient.Configuration(baseURL: address)
        configuration.json = .snakeCase
        let client = NetworkClient(configuration, transport: transport)
        let restaurant = try await client.request(GetRestaurant(id: "42"))
        _ = configuration
        _ = client
        _ = restaurant
    }

    static func lossyList(_ client: NetworkClient) async throws {
        let page = try await client.request(GetFeed(), as: LossyList<Item>.self)
        show(page.elements)
        log(page.droppedElements.map(\.description))
        _ = page
    }

    static func cookieJar(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        let jar = CookieJar()
        configuration.attemptMiddleware.append(jar)
        _ = configuration
    }

    static func endpoint() async throws {
        enum AuthEndpoint: ServiceEndpoint {
            case login(Credentials)
            case logout

            var method: HTTPRequest.Method { .post }
            var path: EndpointPath {
                switch self {
                case .login: "/auth/login"
                case .logout: "/auth/logout"
                }
            }
            var body: RequestBody? {
                guard case .login(let credentials) = self else { return nil }
                return .json(credentials)
            }
        }
        _ = AuthEndpoint.logout
    }

    static func multipartForm(_ photoURL: URL, _ client: NetworkClient) async throws {
        let form = MultipartForm([
            .text("title", "Holidays"),
            .json("tags", ["sea", "sun"]),
            .file("photo", at: photoURL, contentType: "image/jpeg"),
        ])
        let album = try await client.upload(.multipart(form), to: AddAlbum())
        _ = form
        _ = album
    }

    static func problemDetails() async throws {
        struct OutOfCredit: Decodable, Sendable {
            let problem: ProblemDetails
            let balance: Int

            enum CodingKeys: CodingKey { case balance }

            init(from decoder: any Decoder) throws {
                problem = try ProblemDetails(from: decoder)
                balance = try decoder.container(keyedBy: CodingKeys.self).decode(
                    Int.self,
                    forKey: .balance
                )
            }
        }
        _ = OutOfCredit.self
    }

    static func uRITemplate() async throws {
        let template = try URITemplate("/users/{id}{?fields*}")
        let path = try template.expanded(["id": "a/b", "fields": ["name", "age"]])
        // /users/a%2Fb?fields=name&fields=age
        _ = template
        _ = path
    }

    static func eventStream(_ client: NetworkClient) async throws {
        for try await event in client.eventStream(WatchOrders()) { show(event) }
    }

    static func networkStatus() async throws {
        let network = NetworkStatus()
        for await path in network.paths { showBanner(path.status == .unsatisfied) }
        _ = network
    }

    static func cURLCommand(_ call: HTTPCall) async throws {
        print(CURLCommand(call))
        // curl --header 'Accept: application/json' 'https://api.example.com/v1/menu?page=redacted'
    }

    static func hTTPEventLog(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        let log = HTTPEventLog()
        configuration.observers.append(log)
        for summary in log.summaries { print(summary) }
        _ = configuration
    }

    static func networkClientTransfers(_ client: NetworkClient, _ url: URL) async throws {
        let film = try await client.upload(.file(url, contentType: "video/mp4"), to: AddFilm())
        _ = film
    }

    static func transferObserver(_ client: NetworkClient, _ url: URL) async throws {
        let bar = Bar()
        try await client.download(
            from: GetFilm(),
            to: url,
            observer: .progress { print($0.fraction ?? 0) }
        )

        let (observer, updates) = TransferObserver.updates()
        async let film = client.download(from: GetFilm(), to: url, observer: observer)
        for await progress in updates { bar.value = progress.fraction }
        _ = try await film
    }

    static func networkClientWebSockets(_ client: NetworkClient, _ request: HTTPRequest)
        async throws
    {
        let transport = client.webSocketTransport(over: NIOWebSocketTransport())
        let socket = ReconnectingWebSocket(to: request, over: transport)
        _ = transport
        _ = socket
    }

    static func webSocketConnection(_ request: HTTPRequest, _ transport: any WebSocketTransport)
        async throws
    {
        try await transport.withConnection(to: request) { connection in
            try await connection.send("hello")
            for try await message in connection.messages {
                print(message)
            }
        }
    }
}
