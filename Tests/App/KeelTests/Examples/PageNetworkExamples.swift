import Foundation
import HTTPTypes
import Keel
import KeelHTTPAuthentication
import KeelTestKit
import Testing

// Examples from articles about endpoints, result-style errors, and doubles of custom services.

private struct Credentials: Codable, Sendable {
    var name: String
}

private struct Profile: Codable, Equatable, Sendable {
    var name: String
}

private struct Entry: Codable, Equatable, Sendable {
    var text: String
}

private struct Holiday: Codable, Equatable, Sendable {
    var name: String
    var day: Date
}

private struct Page: Codable, Equatable, Sendable {
    var next: URL
    var image: URL
}

private enum AuthEndpoint: ServiceEndpoint {
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

private struct PropertyListCoding: BodyCoding {
    var mediaType: String { "application/x-plist" }

    func encode(_ value: some Encodable) throws -> [UInt8] {
        Array(try PropertyListEncoder().encode(value))
    }

    func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
        try PropertyListDecoder().decode(type, from: Data(bytes))
    }
}

private struct GetHolidays: Endpoint {
    typealias Response = [Holiday]
    var path: EndpointPath { "/holidays" }
    var coding: (any BodyCoding)? { JSONCoding(dates: .day) }
}

@Suite("Pages: clients of services")
struct PageNetworkExamples {
    private func client(
        _ transport: ScriptedHTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        let address = try #require(URL(string: "https://api.example.com"))
        var configuration = NetworkClient.Configuration(baseURL: address)
        configuration.retry = .never
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    @Test("Verbs with and without a result")
    func verbs() async throws {
        let transport = ScriptedHTTPTransport([.json(#"{"name":"Ann"}"#), .status(.noContent)])
        let client = try client(transport)
        let profile = Profile(name: "Ann")
        let saved = try await client.put("/profile", body: profile, as: Profile.self)
        try await client.post("/profile/seen")
        #expect(saved == profile)
    }

    @Test("Several services over one transport")
    func services() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"[{"text":"Hello"}]"#), .json(#"{"name":"x"}"#),
        ])
        let authAddress = try #require(URL(string: "https://auth.example.com"))
        let diaryAddress = try #require(URL(string: "https://diary.example.com"))
        let session = StaticToken("secret")
        let network = NetworkClientProvider(
            [.auth: authAddress, .diary: diaryAddress],
            transport: transport
        ) { service, configuration in
            configuration.json = .snakeCase
            if service != .auth { configuration.authorize(with: session) }
        }
        let login = network.client(for: .auth, operations: AuthEndpoint.self)
        let entries = try await network.client(for: .diary).get("/entries", as: [Entry].self)
        #expect(entries == [Entry(text: "Hello")])
        _ = try await login.request(.login(Credentials(name: "ann")), as: Profile.self)
        let signed = transport.calls.map { $0.head.headerFields[.authorization] }
        #expect(signed == ["Bearer secret", nil])
    }

    @Test("Addresses outside of the base URL")
    func addresses() async throws {
        let json =
            #"{"next":"https://api.example.com/p?page=3","image":"https://cdn.example.org/a.png"}"#
        let client = try client(ScriptedHTTPTransport([.json(json), .status(.ok, body: [1, 2])]))
        let page = try JSONCoding.standard.decode(Page.self, from: Array(json.utf8))
        let next = try await client.get(.url(page.next), as: Page.self)
        let image = try await client.download(from: URLEndpoint(page.image))
        #expect(next == page && image == Data([1, 2]))
    }

    @Test("Codings of a client and of an endpoint")
    func codings() async throws {
        let days = #"[{"name":"New Year","day":"2025-01-01"}]"#
        let transport = ScriptedHTTPTransport([
            .json(days), .status(.ok, body: try PropertyListCoding().encode(Profile(name: "Ann"))),
        ])
        let client = try client(transport) { $0.coding = PropertyListCoding() }
        #expect(try await client.request(GetHolidays()).map(\.name) == ["New Year"])
        #expect(try await client.get("/profile", as: Profile.self) == Profile(name: "Ann"))
        #expect(
            transport.calls.map { $0.head.headerFields[.accept] }
                == ["application/json", "application/x-plist"]
        )
    }

    @Test("The platform's transport is what a client has that was given none")
    func platform() async throws {
        let transport = NetworkClient.platformTransport()
        let address = try #require(URL(string: "https://api.example.com"))
        let client = NetworkClient(baseURL: address)
        #expect(type(of: client.transport) == type(of: transport))
        await client.transport.shutdown()
        await transport.shutdown()
        let error = await #expect(throws: NetworkError.self) {
            try await client.post("/x", options: HTTPCallOptions())
        }
        #expect(error?.transportError != nil)
    }
}

// MARK: The style of results

private struct User: Hashable, Sendable {
    var id: String
    var name: String
}

private struct UserDTO: Decodable, Sendable, DomainConvertible {
    var id: String
    var displayName: String

    func toDomain() throws(MappingError) -> User { User(id: id, name: displayName) }
}

private enum UserEndpoint: ServiceEndpoint {
    case user(id: String)
    case delete(id: String)

    var method: HTTPRequest.Method { if case .delete = self { .delete } else { .get } }
    var path: EndpointPath {
        switch self {
        case .user(let id), .delete(let id): "/users/\(id)"
        }
    }
}

private struct RemoteUsers {
    let users: ServiceClient<UserEndpoint>

    func user(id: String) async -> Result<User, DataSourceError> {
        await users.response(to: .user(id: id))  // Result<NetworkResponse, TransportError>
            .value(as: UserDTO.self, coding: .snakeCase)  // Result<UserDTO, DataSourceError>
            .toDomain()  // Result<User, DataSourceError>
    }
}

extension RemoteUsers {
    func delete(id: String) async -> Result<Void, DataSourceError> {
        await users.response(to: .delete(id: id))
            .mapError(DataSourceError.init)
            .flatMap { response in
                if response.status == .notFound { return .success(()) }
                return DataSourceError(errorResponse: response).map(Result.failure) ?? .success(())
            }
    }
}

// MARK: Doubles

private enum UserServiceError: Error, Hashable {
    case notFound
    case offline
    case cancelled
}

private protocol UserService: Sendable {
    func user(id: String) async throws(UserServiceError) -> User
    func delete(id: String) async throws(UserServiceError)
}

private struct StubUserService: UserService {
    enum Call: Hashable {
        case user(id: String)
        case delete(id: String)
    }

    let calls = CallRecorder<Call, UserServiceError>(cancellation: .cancelled)
    var users: [String: User] = [:]

    func user(id: String) async throws(UserServiceError) -> User {
        try await calls.answer(.user(id: id)) { () throws(UserServiceError) in
            guard let user = users[id] else { throw .notFound }
            return user
        }
    }

    func delete(id: String) async throws(UserServiceError) {
        try await calls.record(.delete(id: id))
    }
}

@Suite("Pages: services of the app", .timeLimit(.minutes(1)))
struct PageServiceExamples {
    @Test("A status gets its meaning in the data source")
    func results() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"id":"1","display_name":"Ann"}"#), .status(.notFound), .status(.forbidden),
        ])
        let address = try #require(URL(string: "https://api.example.com"))
        let users = RemoteUsers(
            users: ServiceClient(NetworkClient(baseURL: address, transport: transport))
        )
        #expect(try await users.user(id: "1").get() == User(id: "1", name: "Ann"))
        try await users.delete(id: "1").get()
        let refused = await users.delete(id: "1")
        guard case .failure(let error) = refused else {
            Issue.record("The call succeeded.")
            return
        }
        #expect(error.code == .forbidden)
    }

    @Test("A double of a service fails once")
    func failingOnce() async throws {
        let ann = User(id: "1", name: "Ann")
        let service = StubUserService(users: ["1": ann])
        service.calls.script([.fail(.offline), .delay(.seconds(2))])
        await #expect(throws: UserServiceError.offline) { try await service.user(id: "1") }
        #expect(service.calls.all == [.user(id: "1")])
    }

    @Test("A double of a service fails, waits, answers and remembers")
    func doubles() async throws {
        let ann = User(id: "1", name: "Ann")
        let eve = User(id: "2", name: "Eve")
        let service = StubUserService(users: ["1": ann])
        service.calls.script([.fail(.offline), .answer(eve), nil])
        await #expect(throws: UserServiceError.offline) { try await service.user(id: "1") }
        #expect(try await service.user(id: "1") == eve)
        #expect(try await service.user(id: "1") == ann)
        service.calls.react { call in call == .delete(id: "1") ? .delay(.seconds(60)) : nil }
        let deletion = Task { try await service.delete(id: "1") }
        try await service.calls.waitForCalls(4)
        deletion.cancel()
        await #expect(throws: UserServiceError.cancelled) { try await deletion.value }
        #expect(service.calls.last == .delete(id: "1"))
    }
}
