import Foundation
import HTTPTypes
import Keel
import KeelConformance
import KeelTestKit
import KeelURITemplates
import Testing

#if TestServer && AsyncHTTPClient
import KeelTestServer
#endif

/// Examples from the articles about endpoints; compiled but not run, see ``ArticleExamples``.
enum PageHTTPExamples {
    struct Restaurant: Codable, Sendable {
        var id: String
    }

    struct Credentials: Codable, Sendable {
        var email: String
    }

    struct Token: Decodable, Sendable {
        var value: String
    }

    struct ValidationProblem: Decodable, Sendable {
        var fields: [String]
    }

    struct SignUp: Endpoint {
        typealias Response = Restaurant
        let form: Credentials
        init(_ form: Credentials) { self.form = form }
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/users" }
        var body: RequestBody? { .json(form) }
        var errorBodies: [ErrorBody] { [.json(ValidationProblem.self, for: .unprocessableContent)] }
    }

    struct GetUser: Endpoint {
        typealias Response = Restaurant
        let id: String
        let fields: [String]

        var path: EndpointPath {
            EndpointPath(
                template: "/users/{id}{?fields*}",
                ["id": "\(id)", "fields": .list(fields)]
            )
        }
    }

    struct AddFilm: Endpoint {
        typealias Response = Restaurant
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/films" }
    }

    struct GetFilm: ServiceEndpoint {
        let id: String
        var path: EndpointPath { "/films/\(id)" }
    }

    static func show(_ what: Any?) {}

    static func structure(_ client: NetworkClient) async throws -> Restaurant {
        struct GetRestaurant: Endpoint {
            typealias Response = Restaurant
            let id: String
            var path: EndpointPath { "/restaurants/\(id)" }
        }

        let restaurant = try await client.request(GetRestaurant(id: "42"))
        return restaurant
    }

    static func enumeration(
        _ client: NetworkClient,
        _ credentials: Credentials
    ) async throws -> Token {
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
                if case .login(let credentials) = self { .json(credentials) } else { nil }
            }
        }

        let auth = ServiceClient<AuthEndpoint>(client)
        let token = try await auth.request(.login(credentials), as: Token.self)
        return token
    }

    static func failures(_ client: NetworkClient, _ form: Credentials) async {
        var user: Restaurant?
        do throws(NetworkError) {
            user = try await client.request(SignUp(form))
        } catch {
            if let problem = error.errorBody(as: ValidationProblem.self) { show(problem.fields) }
        }
        show(user)
    }

    static func transfers(_ client: NetworkClient, _ video: URL, _ file: URL) async throws {
        let film = try await client.upload(.file(video, contentType: "video/mp4"), to: AddFilm())
        try await client.download(
            from: GetFilm(id: "7"),
            to: file,
            observer: .progress { show($0.fraction) }
        )
        show(film)
    }

    static func scripted(_ url: URL) -> NetworkClient {
        let transport = ScriptedHTTPTransport([.json(#"{"id": "42"}"#), .status(.notFound)])
        let client = NetworkClient(baseURL: url, transport: transport)
        return client
    }
}

#if TestServer && AsyncHTTPClient
@Suite("Page: a transport of one's own", .timeLimit(.minutes(5)))
struct PageTransportExamples {
    /// Another transport, with fewer features.
    struct MyTransport: HTTPTransport {
        static let features: HTTPTransportFeatures = [.rawContentCoding, .trailers]
        private let base: AsyncHTTPClientTransport

        init(_ access: HTTPTestAccess) throws(TransportError) {
            var configuration = AsyncHTTPClientTransport.Configuration()
            if let authority = access.authorityPEM {
                configuration.security.trustRoots = try .pem(authority.utf8)
            }
            if let limit = access.connectTimeout { configuration.connectTimeout = limit }
            base = AsyncHTTPClientTransport(configuration)
        }

        var features: HTTPTransportFeatures { Self.features }

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            try await base.send(call)
        }

        func shutdown() async { await base.shutdown() }
    }

    static let subject = HTTPTransportSubject(FaultServerOrigins()) { access in
        try MyTransport(access)
    }

    @Test(arguments: HTTPTransportCheck.applicable(to: MyTransport.features))
    func keepsItsPromises(_ check: HTTPTransportCheck) async throws {
        try await check.run(on: Self.subject)
    }

    @Test(arguments: HTTPFaultCheck.applicable(to: MyTransport.features))
    func tellsFaults(_ check: HTTPFaultCheck) async throws {
        try await check.run(on: Self.subject)
    }
}
#endif
