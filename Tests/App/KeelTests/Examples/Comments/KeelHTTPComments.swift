import Foundation
import HTTPTypes
import Keel
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelHTTPCompression
import KeelHTTPCookies
import KeelHTTPObservability
import KeelHTTPSecrets
import KeelHTTPTransfers
import KeelNetworkStatus
import KeelTestKit
import KeelURITemplates
import KeelWebSocket
import KeelWebSocketNIO
import Testing

#if Observability
import Logging
#endif

/// Examples from the comments of the modules of HTTP; compiled but not run, see ``CommentExamples``.
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

// KeelHTTPCaching
extension CommentExamples {
    static func cachedThenFresh(_ client: NetworkClient) async throws {
        for try await menu in client.cachedThenFresh(GetMenu()) {
            show(menu.value, isOld: menu.source != .network)
        }
    }

    static func hTTPCache(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        let cache = HTTPCache(tier: InMemoryCacheTier())
        configuration.cacheResponses(in: cache)
        _ = configuration
    }

    static func hTTPCachePolicy(_ client: NetworkClient) async throws {
        var options = HTTPCallOptions()
        options.cachePolicy = .cacheElseNetwork
        let menu = try await client.request(GetMenu(), options: options)
        _ = options
        _ = menu
    }

    static func hTTPCachingMiddleware(_ client: NetworkClient, _ cache: HTTPCache) async throws {
        var configuration = client.configuration
        configuration.hopMiddleware = [HTTPCachingMiddleware(cache)]
        _ = configuration
    }
}

// KeelHTTPCompression
extension CommentExamples {
    static func responseDecompression(_ client: NetworkClient, _ transport: any HTTPTransport)
        async throws
    {
        var configuration = client.configuration
        configuration.attemptMiddleware.append(ResponseDecompression(for: transport.features))
        _ = configuration
    }
}

#if Observability
// KeelHTTPObservability
extension CommentExamples {
    static func hTTPLogging(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        configuration.observers.append(HTTPLogging(Logger(label: "api")))
        _ = configuration
    }

    static func hTTPTracing(_ client: NetworkClient) async throws {
        var configuration = client.configuration
        configuration.middleware.insert(HTTPTracing(.call), at: 0)
        configuration.attemptMiddleware.append(HTTPTracing(.attempt))
        _ = configuration
    }
}
#endif

// KeelHTTPSecrets
extension CommentExamples {
    static func secretCredentialStore(
        _ client: NetworkClient,
        _ file: EncryptedFileSecretStoreAdapter
    ) async throws {
        let secrets = try await SecretStore.platformDefault(
            service: "com.example.notes",
            fallback: file
        )
        let session = AuthSession(
            server: OAuthIdentityServer(client, path: "/token"),
            store: SecretCredentialStore<BearerCredentials>(secrets)
        )
        _ = secrets
        _ = session
    }
}

// KeelHTTPTransfers
extension CommentExamples {
    static func resumableDownload(_ address: URL, _ file: URL, _ client: NetworkClient) async throws
    {
        let download = ResumableDownload(from: address, to: file, through: client)
        let receipt = try await download.run()
        _ = download
        _ = receipt
    }

    static func transferEvent(_ download: ResumableDownload) async throws {
        let bar = Bar()
        let (observer, updates) = ResumableTransferObserver.updates()
        async let receipt = download.run(observer: observer)
        for await progress in updates { bar.value = progress.fraction }
        _ = try await receipt
    }

    static func resumableUpload(_ file: URL, _ address: URL, _ client: NetworkClient) async throws {
        let upload = ResumableUpload(of: file, to: address, through: client, protocol: .tus)
        let receipt = try await upload.run()
        _ = upload
        _ = receipt
    }
}

#if WebSocket
// KeelWebSocketNIO
extension CommentExamples {
    static func nIOWebSocketTransport(_ request: HTTPRequest) async throws {
        let transport = NIOWebSocketTransport()
        try await transport.withConnection(to: request) { connection in
            try await connection.send("hello")
            print(try await connection.receive() ?? .text("closed"))
        }
        _ = transport
    }
}
#endif
