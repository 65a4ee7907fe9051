import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

/// Tests that provoke each failure that the guides name, and check its code.
@Suite("Network errors of the guides, by name")
struct NetworkErrorNamesTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let name: String
        let code: NetworkError.Code
        var status: Int?
        let fail: @Sendable () async throws -> Void

        var testDescription: String { name }
    }

    private static func answering(
        _ name: String,
        _ code: NetworkError.Code,
        status: Int? = nil,
        _ answer: ScriptedHTTPTransport.Answer
    ) -> Row {
        Row(name: name, code: code, status: status) {
            let client = try makeClient(ScriptedHTTPTransport([answer]))
            _ = try await client.request(GetRestaurant(id: "1"))
        }
    }

    static let rows: [Row] = [
        Row(name: "invalidURL", code: .invalidURL) {
            _ = try await makeClient(ScriptedHTTPTransport()).request(GetRestaurant(id: ".."))
        },
        answering(
            "invalidResponse",
            .invalidResponse,
            .failure(TransportError(.protocolViolation))
        ),
        answering("serverError(500)", .unavailable, status: 500, .status(500)),
        answering("serverError(501)", .status, status: 501, .status(501)),
        answering("httpError(409)", .status, status: 409, .status(409)),
        answering("statusCode(418)", .status, status: 418, .status(418)),
        answering("noData", .noData, status: 200, .status(200)),
        answering("decodingError", .decoding, status: 200, .json("[]")),
        Row(name: "encodingError", code: .encoding) {
            let client = try makeClient(ScriptedHTTPTransport())
            let _: EmptyResponse = try await client.post("/x", body: [Double.nan])
        },
        answering("timeout", .timeout, .failure(TransportError(.responseTimeout))),
        answering("noConnection", .noConnection, .failure(TransportError(.offline))),
        answering("networkUnavailable", .noConnection, .failure(TransportError(.hostNotFound))),
        answering("unauthorized", .unauthorized, status: 401, .status(401)),
        answering("notFound", .notFound, status: 404, .status(404)),
        answering("cancelled", .cancelled, .failure(TransportError(.cancelled))),
        answering("connectionLost", .connectionLost, .failure(TransportError(.truncatedBody))),
        answering("tls", .transport, .failure(TransportError(.tlsUntrusted))),
        Row(name: "file", code: .file) {
            let client = try makeClient(ScriptedHTTPTransport())
            let body = RequestBody.file(URL(fileURLWithPath: "/nowhere/at/all"))
            let _: EmptyResponse = try await client.put("/x", body: body)
        },
    ]

    @Test("A failure has a code, a readable message and a recovery suggestion", arguments: rows)
    func hasCode(row: Row) async throws {
        let error = try #require(await #expect(throws: NetworkError.self) { try await row.fail() })
        #expect(error.code == row.code)
        #expect(error.status?.code == row.status)
        #expect(error.errorDescription == error.message)
        #expect(error.message.count > 10)
        #expect(error.recoverySuggestion == row.code.advice)
        #expect(row.code.advice.count > 20)
    }

    @Test("Every code is covered")
    func coversCodes() { #expect(Set(Self.rows.map(\.code)) == Set(NetworkError.Code.known)) }
}

@Suite("Settings of single calls")
struct RequestContextTests {
    private enum Lane: HTTPCallOptionKey { static var defaultValue: String { "none" } }
    private enum Mark: HTTPCallOptionKey { static var defaultValue: Int { 0 } }

    private struct Marked: Endpoint {
        typealias Response = EmptyResponse
        var path: EndpointPath { "/x" }
        var timeout: Duration? { .seconds(20) }
        var options: HTTPCallOptions {
            var options = HTTPCallOptions()
            options[Lane.self] = "endpoint"
            options[Mark.self] = 1
            return options
        }
    }

    private enum Operation: ServiceEndpoint {
        case only
        var path: EndpointPath { "/x" }
    }

    /// A layer that records the options of calls.
    private struct Watch: HTTPMiddleware {
        let seen: @Sendable (String, Int) -> Void

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            seen(call.options[Lane.self], call.options[Mark.self])
            return try await next(call)
        }
    }

    @Test("A call's settings override the endpoint's, which override the client's")
    func precedence() async throws {
        let clock = GateClock()
        let (lanes, continuation) = AsyncStream.makeStream(of: String.self)
        let client = try makeClient(ScriptedHTTPTransport(then: .status(.ok))) {
            $0.clock = clock
            $0.options[Lane.self] = "client"
            $0.middleware = [Watch { continuation.yield("\($0) \($1)") }]
        }
        var wish = HTTPCallOptions()
        wish[Lane.self] = "call"
        let limit = Duration.seconds(5)
        let folder = try TemporaryFolder()
        let file = folder.url.appendingPathComponent("f")
        let body = RequestBody.bytes([1])
        let service = ServiceClient<Operation>(client)
        _ = try await client.request(Marked())
        // The sleep for a call's limit is a task of its own, which may begin after the call has ended.
        try await waitUntil { !clock.sleeps.isEmpty }
        _ = try await client.request(Marked(), timeout: limit, options: wish)
        try await waitUntil { clock.sleeps.count >= 2 }
        _ = try await client.request(
            Marked(),
            as: EmptyResponse.self,
            timeout: limit,
            options: wish
        )
        _ = await client.response(to: Marked(), timeout: limit, options: wish)
        _ = try await client.stream(Marked(), timeout: limit, options: wish)
        _ = try await client.upload([1] as [UInt8], to: Marked(), timeout: limit, options: wish)
        _ = try await client.upload(body, to: Marked(), timeout: limit, options: wish)
        _ = try await client.download(from: Marked(), timeout: limit, options: wish)
        try await client.download(from: Marked(), to: file, timeout: limit, options: wish)
        #expect(clock.sleeps.prefix(2) == [.seconds(20), .seconds(5)])
        let _: EmptyResponse = try await client.get("/x", timeout: limit, options: wish)
        let _: EmptyResponse = try await client.post("/x", body: "b", timeout: limit, options: wish)
        let _: EmptyResponse = try await client.put("/x", body: body, timeout: limit, options: wish)
        let _: EmptyResponse = try await client.patch(
            "/x",
            body: "b",
            timeout: limit,
            options: wish
        )
        try await client.delete("/x", timeout: limit, options: wish)
        try await service.request(.only, timeout: limit, options: wish)
        try await service.download(from: .only, to: file, timeout: limit, options: wish)
        _ = try await service.upload(
            body,
            to: .only,
            as: EmptyResponse.self,
            timeout: limit,
            options: wish
        )
        _ = await service.response(to: .only)
        continuation.finish()
        var seen: [String] = []
        for await lane in lanes { seen.append(lane) }
        #expect(seen.first == "endpoint 1")
        #expect(seen.last == "client 0")
        #expect(seen[1...8].allSatisfy { $0 == "call 1" })
        #expect(seen[9..<17].allSatisfy { $0 == "call 0" })
        #expect(seen.count == 18)
        try await waitUntil { clock.sleeps.count >= seen.count }
        // All but the first call and the last one, whose sleep may precede another's.
        #expect(clock.sleeps.dropFirst().filter { $0 != limit }.count <= 1)
    }
}
