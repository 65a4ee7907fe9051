import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

private struct ValidationProblem: Decodable, Sendable, Equatable {
    var fieldErrors: [String: String]
}

private struct Message: Decodable, Sendable, Equatable { var message: String }

private struct SignUp: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/users" }
    var errorBodies: [ErrorBody] { [.json(ValidationProblem.self, for: .unprocessableContent)] }
}

@Suite("Typed error bodies")
struct ErrorBodyTests {
    private let invalid = #"{"field_errors":{"userName":"s3cret"}}"#
    private let problem: HTTPFields = [.contentType: "Application/Problem+JSON; charset=utf-8"]

    private func failure(
        _ body: String,
        status: HTTPResponse.Status,
        headers: HTTPFields = [:],
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) async throws -> NetworkError {
        let transport = ScriptedHTTPTransport([
            .status(status, headers: headers, body: Array(body.utf8))
        ])
        let client = try makeClient(transport) {
            $0.json = .snakeCase
            change(&$0)
        }
        return try #require(
            await #expect(throws: NetworkError.self) { try await client.request(SignUp()) }
        )
    }

    @Test("The error contains the endpoint's type for the status")
    func readsDeclaredTypes() async throws {
        let error = try await failure(invalid, status: .unprocessableContent)
        #expect(error.code == .status)
        #expect(error.errorBody(as: ValidationProblem.self)?.fieldErrors == ["userName": "s3cret"])
        #expect(error.errorBody(as: Message.self) == nil)
        #expect(error.status == .unprocessableContent)
    }

    @Test("No text of the error contains the value")
    func keepsSecrets() async throws {
        let error = try await failure(invalid, status: .unprocessableContent)
        var dumped = ""
        dump(error, to: &dumped)
        let texts = ["\(error)", String(reflecting: error), dumped, error.localizedDescription]
        #expect(texts.allSatisfy { !$0.contains("s3cret") }, "\(texts)")
    }

    @Test(
        "A body that does not match the type leaves the status error unchanged",
        arguments: ["", "<html>", #"{"message":"x"}"#, "[1]", "{"]
    )
    func keepsStatusErrors(body: String) async throws {
        let error = try await failure(body, status: .unprocessableContent)
        #expect(error.code == .status)
        #expect(error.errorBody == nil)
        #expect(error.response?.body == Array(body.utf8))
        #expect(error.cause == nil)
    }

    @Test("A body of another status is not decoded as the type")
    func obeysStatus() async throws {
        let error = try await failure(invalid, status: .conflict)
        #expect(error.errorBody == nil)
    }

    @Test("The endpoint's types precede the client's, and the first match wins")
    func ordersDeclarations() async throws {
        let declare: (inout NetworkClient.Configuration) -> Void = {
            $0.errorBodies = [.json(Message.self, for: 400...499)]
        }
        let both = #"{"message":"m","field_errors":{}}"#
        let first = try await failure(both, status: .unprocessableContent, declare)
        #expect(first.errorBody is ValidationProblem)
        let second = try await failure(#"{"message":"m"}"#, status: .unprocessableContent, declare)
        #expect(second.errorBody(as: Message.self)?.message == "m")
        let third = try await failure(#"{"message":"m"}"#, status: .notFound, declare)
        #expect(third.code == .notFound)
        #expect(third.errorBody is Message)
        let fourth = try await failure(#"{"message":"m"}"#, status: .internalServerError, declare)
        #expect(fourth.errorBody == nil)
    }

    @Test("A service declares types for all its operations")
    func readsServiceTypes() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"message":"locked"}"#, status: .forbidden),
            .status(.badRequest, body: Array("plain".utf8)),
        ])
        let auth = ServiceClient<AuthEndpoint>(
            try makeClient(transport),
            errorBodies: [
                .json(Message.self),
                .custom(for: 400...400) { String(decoding: $0, as: UTF8.self) },
            ]
        )
        let error = await #expect(throws: NetworkError.self) { try await auth.request(.logout) }
        #expect(error?.errorBody(as: Message.self)?.message == "locked")
        let other = await #expect(throws: NetworkError.self) { try await auth.request(.logout) }
        #expect(other?.errorBody(as: String.self) == "plain")
    }

    @Test("An RFC 9457 problem is recognized by its media type")
    func readsProblems() async throws {
        let body = """
            {"type":"https://example.com/credit","title":"No credit","status":403,
            "detail":"It costs 50","instance":"/account/12","balance":30}
            """
        let error = try await failure(body, status: .forbidden, headers: problem)
        #expect(
            error.errorBody(as: ProblemDetails.self)
                == ProblemDetails(
                    type: "https://example.com/credit",
                    title: "No credit",
                    status: 403,
                    detail: "It costs 50",
                    instance: "/account/12"
                )
        )
        let plain = try await failure(
            body,
            status: .forbidden,
            headers: [.contentType: "text/json"]
        )
        #expect(plain.errorBody == nil)
    }

    @Test("Members of a problem with the wrong type are ignored")
    func toleratesProblems() async throws {
        let body = #"{"title":7,"status":"403","detail":"d","instance":null}"#
        let error = try await failure(body, status: .forbidden, headers: problem)
        #expect(error.errorBody(as: ProblemDetails.self) == ProblemDetails(detail: "d"))
        let list = try await failure("[]", status: .forbidden, headers: problem)
        #expect(list.errorBody == nil)
    }

    @Test("A custom type can extend a problem")
    func extendsProblems() async throws {
        struct OutOfCredit: Decodable, Sendable {
            let problem: ProblemDetails
            let balanceLeft: Int
            enum CodingKeys: CodingKey { case balanceLeft }
            init(from decoder: any Decoder) throws {
                problem = try ProblemDetails(from: decoder)
                balanceLeft = try decoder.container(keyedBy: CodingKeys.self)
                    .decode(Int.self, forKey: .balanceLeft)
            }
        }
        let error = try await failure(
            #"{"title":"No credit","balance_left":30}"#,
            status: .forbidden,
            headers: problem
        ) { $0.errorBodies = [.json(OutOfCredit.self, for: .forbidden)] }
        #expect(error.errorBody(as: OutOfCredit.self)?.balanceLeft == 30)
        #expect(error.errorBody(as: OutOfCredit.self)?.problem.title == "No credit")
    }

    @Test("Streams and downloads also decode error bodies")
    func readsFailuresOfStreams() async throws {
        let transport = ScriptedHTTPTransport(then: .json(invalid, status: .unprocessableContent))
        let client = try makeClient(transport) { $0.json = .snakeCase }
        let streamed = await #expect(throws: NetworkError.self) {
            _ = try await client.stream(SignUp())
        }
        #expect(streamed?.errorBody is ValidationProblem)
        let downloaded = await #expect(throws: NetworkError.self) {
            _ = try await client.download(from: SignUp())
        }
        #expect(downloaded?.errorBody is ValidationProblem)
    }
}
