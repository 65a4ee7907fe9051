import Foundation
import HTTPTypes
import KeelHTTP
import KeelRepositories
import KeelSync
import KeelTestKit
import Testing

@Suite("Result-style data sources")
struct ResultStyleTests {
    struct User: Equatable, Sendable {
        var id: UUID
        var name: String
    }

    struct UserDTO: Decodable, Sendable, DomainConvertible {
        var id: String
        var displayName: String

        func toDomain() throws(MappingError) -> User {
            let fields = FieldMapper(of: id)
            return User(
                id: try fields.uuid(id, "id"),
                name: try fields.text(displayName, "displayName")
            )
        }
    }

    struct Problem: Decodable, Sendable, Equatable { var reasonCode: Int }

    enum UserEndpoint: ServiceEndpoint {
        case user(id: String)
        case all
        case delete(id: String)

        var method: HTTPRequest.Method { if case .delete = self { .delete } else { .get } }
        var path: EndpointPath {
            switch self {
            case .all: "/users"
            case .user(let id), .delete(let id): "/users/\(id)"
            }
        }
    }

    struct RemoteUsers: Sendable {
        let users: ServiceClient<UserEndpoint>

        func user(id: String) async -> Result<User, DataSourceError> {
            await users.response(to: .user(id: id))
                .value(as: UserDTO.self, coding: .snakeCase, errorBodies: [.json(Problem.self)])
                .toDomain()
        }

        func all() async -> Result<[User], DataSourceError> {
            await users.response(to: .all)
                .value(as: [UserDTO].self, coding: .snakeCase)
                .toDomain()
        }

        /// A status with a meaning specific to the service: a missing user counts as deleted.
        func delete(id: String) async -> Result<Void, DataSourceError> {
            await users.response(to: .delete(id: id))
                .mapError(DataSourceError.init)
                .flatMap { response in
                    if response.status == .notFound { return .success(()) }
                    return DataSourceError(errorResponse: response).map(Result.failure)
                        ?? .success(())
                }
        }
    }

    private let id = "7D9C5F4E-6C5C-4F4C-9A5A-1B2C3D4E5F60"

    private func remote(_ answers: [ScriptedHTTPTransport.Answer]) throws -> RemoteUsers {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        let transport = ScriptedHTTPTransport(answers)
        return RemoteUsers(users: ServiceClient(NetworkClient(configuration, transport: transport)))
    }

    private func code<Value>(_ result: Result<Value, DataSourceError>) -> DataSourceError.Code? {
        if case .failure(let error) = result { error.code } else { nil }
    }

    @Test("A response becomes a domain value")
    func succeeds() async throws {
        let json = #"{"id":"\#(id)","display_name":"Ann"}"#
        let remote = try remote([.json(json), .json("[\(json),\(json)]"), .json("[]")])
        let ann = User(id: try #require(UUID(uuidString: id)), name: "Ann")
        #expect(try await remote.user(id: "1").get() == ann)
        #expect(try await remote.all().get() == [ann, ann])
        #expect(try await remote.all().get() == [])
    }

    @Test("Each link of the error chain has its code and keeps the previous link")
    func fails() async throws {
        let remote = try remote([
            .failure(TransportError(.offline)),
            .json(#"{"reason_code":7}"#, status: .conflict),
            .json(#"{"id":1}"#),
            .json(#"{"id":"no UUID","display_name":"Ann"}"#),
        ])
        let offline = await remote.user(id: "1")
        #expect(code(offline) == .unreachable)
        #expect(throws: DataSourceError.self) { try offline.get() }
        if case .failure(let error) = offline {
            #expect(error.source == .remote)
            #expect(error.networkError?.code == .noConnection)
            #expect(error.transportError?.code == .offline)
        }
        let refused = await remote.user(id: "1")
        #expect(code(refused) == .conflict)
        if case .failure(let error) = refused {
            #expect(error.networkError?.errorBody(as: Problem.self) == Problem(reasonCode: 7))
            #expect(error.transportError == nil)
        }
        #expect(code(await remote.user(id: "1")) == .unreadable)
        let unmappable = await remote.user(id: "1")
        #expect(code(unmappable) == .unmappable)
        if case .failure(let error) = unmappable { #expect(error.mappingError != nil) }
    }

    @Test("A data source can give a status its own meaning")
    func interprets() async throws {
        let remote = try remote([
            .status(.noContent), .status(.notFound), .status(.forbidden),
            .failure(TransportError(.deadlineExceeded)),
        ])
        #expect(code(await remote.delete(id: "1")) == nil)
        #expect(code(await remote.delete(id: "1")) == nil)
        #expect(code(await remote.delete(id: "1")) == .forbidden)
        #expect(code(await remote.delete(id: "1")) == .timeout)
    }

    @Test(
        "A failed exchange maps to the same code as a failed call",
        arguments: TransportError.Code.known
    )
    func agrees(_ code: TransportError.Code) {
        let error = TransportError(code)
        #expect(DataSourceError(error).code == DataSourceError(NetworkError(error)).code)
        #expect(DataSourceError(error).transportError?.code == code)
    }

    @Test("An error status maps to the same code as a failed call", arguments: 100...599)
    func agreesOnStatuses(_ status: Int) throws {
        let response = NetworkResponse(head: HTTPResponse(status: .init(code: status)))
        let error = DataSourceError(errorResponse: response)
        #expect((error == nil) == (200..<300).contains(status))
        if let error { #expect(error.networkError?.status?.code == status) }
    }

    @Test(
        "An outbox request keeps its own coding, and an endpoint with an absolute URL is rejected"
    )
    func keepsInOutbox() async throws {
        struct Put: Endpoint {
            typealias Response = EmptyResponse
            var method: HTTPRequest.Method { .put }
            var path: EndpointPath { "/x" }
            var body: RequestBody? { .value(["openDay": Date(timeIntervalSince1970: 0)]) }
            var coding: (any BodyCoding)? { JSONCoding(dates: .day) }
        }
        let write = try OutboxRequest(Put()).write(key: "x")
        #expect(String(decoding: write.body, as: UTF8.self) == #"{"openDay":"1970-01-01"}"#)
        #expect(
            write.attributes["header:content-type"] ?? write.attributes["header:Content-Type"]
                == "application/json"
        )
        let address = try #require(URL(string: "https://other.example.com/x"))
        let error = #expect(throws: DataSourceError.self) {
            try OutboxRequest(URLEndpoint(address, method: .put))
        }
        #expect(error?.code == .invalidRequest)
    }
}
