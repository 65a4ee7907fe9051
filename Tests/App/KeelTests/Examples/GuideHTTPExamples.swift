import Foundation
import HTTPTypes
import Keel
import KeelTestKit
import Testing

@Suite("Guide: coming from Alamofire")
struct GuideHTTPExamples {
    struct User: Codable, Equatable, Sendable {
        var id: String
        var name: String
    }

    struct Photo: Decodable, Sendable {
        var id: String
    }

    struct AddPhoto: Endpoint {
        typealias Response = Photo
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/photos" }
    }

    struct GetPhoto: ServiceEndpoint {
        let id: String
        var path: EndpointPath { "/photos/\(id)" }
    }

    enum UserRouter: ServiceEndpoint {
        case user(id: String)
        case rename(id: String, to: String)

        var method: HTTPRequest.Method {
            switch self {
            case .user: .get
            case .rename: .patch
            }
        }
        var path: EndpointPath {
            switch self {
            case .user(let id), .rename(let id, _): "/users/\(id)"
            }
        }
        var body: RequestBody? {
            switch self {
            case .user: nil
            case .rename(_, let name): .json(["name": name])
            }
        }
    }

    struct AppVersion: HTTPMiddleware {
        func intercept(
            _ call: HTTPCall,
            next: HTTPNext
        ) async throws(TransportError) -> HTTPReply {
            var call = call
            call.head.headerFields[.userAgent] = "Notes/2.1"
            return try await next(call)
        }
    }

    private let api = URL(string: "https://api.example") ?? URL(filePath: "/")
    private let ada = #"{"id":"7","name":"Ada"}"#

    @Test("A request, with the transport of a test")
    func request() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id":"7","name":"Ada"}"#)])
        let client = NetworkClient(baseURL: api, transport: transport)
        let user = try await client.get("/users/7", as: User.self)
        #expect(user.name == "Ada")
        #expect(transport.calls.map(\.head.path) == ["/users/7"])
    }

    @Test("A router")
    func router() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"id":"7","name":"Lin"}"#)])
        let client = NetworkClient(baseURL: api, transport: transport)
        let users = ServiceClient<UserRouter>(client)
        let renamed = try await users.request(.rename(id: "7", to: "Lin"), as: User.self)
        #expect(renamed.name == "Lin")
        #expect(transport.calls.map(\.head.method) == [.patch])
    }

    @Test("An interceptor, a limit and more attempts")
    func interceptor() async throws {
        let transport = ScriptedHTTPTransport([.status(503), .json(ada)])
        var configuration = NetworkClient.Configuration(baseURL: api)
        configuration.attemptMiddleware = [AppVersion()]
        configuration.timeout = .seconds(30)
        configuration.retry.attempts = 5
        configuration.retry.baseDelay = .milliseconds(1)
        let client = NetworkClient(configuration, transport: transport)
        #expect(try await client.get("/users/7", as: User.self).name == "Ada")
        let agents = transport.calls.map { $0.head.headerFields[.userAgent] }
        #expect(agents == ["Notes/2.1", "Notes/2.1"])
    }

    @Test("What went wrong", arguments: [404, 500])
    func failures(_ status: Int) async throws {
        let client = NetworkClient(
            baseURL: api,
            transport: ScriptedHTTPTransport(then: .status(HTTPResponse.Status(code: status)))
        )
        var user: User?
        var message: String?
        do throws(NetworkError) {
            user = try await client.get("/users/7", as: User.self)
        } catch {
            switch error.code {
            case .notFound: user = nil
            case .noConnection, .timeout: message = "You seem to be offline."
            default: message = error.recoverySuggestion
            }
        }
        #expect(user == nil && (message == nil) == (status == 404))
    }

    @Test("Transfers")
    func transfers() async throws {
        let file = URL.temporaryDirectory.appending(path: "keel-guide-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: file) }
        let jpeg: [UInt8] = [0xFF, 0xD8]
        let transport = ScriptedHTTPTransport([
            .json(#"{"id":"9"}"#), .status(.ok, body: [0xFF, 0xD8]),
        ])
        let client = NetworkClient(baseURL: api, transport: transport)
        let form = MultipartForm([
            .text("album", "Summer"), .bytes("photo", jpeg, filename: "9.jpg"),
        ])
        let photo = try await client.upload(.multipart(form), to: AddPhoto())
        try await client.download(
            from: GetPhoto(id: photo.id),
            to: file,
            observer: .progress { progress in print(progress.fraction ?? 0) }
        )
        #expect(try Data(contentsOf: file) == Data(jpeg))
    }
}
