import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("HTTP errors")
struct ErrorTests {
    @Test("Every transport code has a name, advice and a readable message")
    func explainsTransportCodes() {
        #expect(Set(TransportError.Code.known.map(\.name)).count == TransportError.Code.known.count)
        for code in TransportError.Code.known {
            check(TransportError(code))
            check(NetworkError(TransportError(code)))
        }
    }

    @Test("Every network code has a name, advice and a readable message")
    func explainsNetworkCodes() {
        #expect(Set(NetworkError.Code.known.map(\.name)).count == NetworkError.Code.known.count)
        for code in NetworkError.Code.known { check(NetworkError(code)) }
    }

    private func check(_ error: some KeelError) {
        #expect(!error.code.name.isEmpty)
        #expect(error.code.advice.count > 20)
        #expect(error.errorDescription?.isEmpty == false)
        #expect(error.recoverySuggestion == error.code.advice)
        #expect(error.localizedDescription == error.message)
        #expect(error.isCancellation == (error.code.name == "cancelled"))
    }

    @Test(
        "An error status becomes its code and keeps the response",
        arguments: [
            (400, NetworkError.Code.status), (401, .unauthorized), (403, .status),
            (404, .notFound), (408, .unavailable), (409, .status), (429, .unavailable),
            (500, .unavailable), (501, .status), (503, .unavailable), (304, .status),
            (999, .invalidResponse),
        ]
    )
    func interpretsStatus(status: Int, code: NetworkError.Code) async throws {
        let transport = ScriptedHTTPTransport([
            .status(.init(code: status), headers: [.retryAfter: "7"], body: Array("why".utf8))
        ])
        let client = try makeClient(transport)
        let error = await expectError(NetworkError.self, code) {
            try await client.request(GetRestaurant(id: "1"))
        }
        #expect(error?.status?.code == status)
        #expect(error?.response?.body == Array("why".utf8))
        #expect(error?.response?.head.headerFields[.retryAfter] == "7")
    }

    @Test("Only the first bytes of an error body are kept")
    func boundsRefusals() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1, 2, 3], [4, 5, 6]], status: .badRequest)
        ])
        let client = try makeClient(transport) { $0.errorBodyLimit = 4 }
        let error = await #expect(throws: NetworkError.self) {
            try await client.request(GetRestaurant(id: "1"))
        }
        #expect(error?.response?.body == [1, 2, 3, 4])
    }

    @Test("A missing body throws noData")
    func reportsNoData() async throws {
        let client = try makeClient(ScriptedHTTPTransport([.status(.ok)]))
        await expectError(NetworkError.self, .noData) {
            try await client.request(GetRestaurant(id: "1"))
        }
    }

    @Test(
        "A body with another structure throws decoding, and the message names the location",
        arguments: [
            (#"{"id":"1"}"#, "displayName"), (#"{"id":1,"displayName":"x"}"#, "id"),
            (#"{"id":null,"displayName":"x"}"#, "id"), ("<html>", "top level"),
            (#"{"id":"1","displayName":"x","openedAt":"s3cret"}"#, "openedAt"),
        ]
    )
    func reportsDecoding(body: String, place: String) async throws {
        let client = try makeClient(ScriptedHTTPTransport([.json(body)]))
        let error = await expectError(NetworkError.self, .decoding) {
            try await client.request(GetRestaurant(id: "1"))
        }
        #expect(error?.message.contains(place) == true)
        #expect(error?.cause is DecodingError)
        #expect(error?.response?.body == Array(body.utf8))
    }

    @Test("A value without a JSON form throws encoding")
    func reportsEncoding() async throws {
        let client = try makeClient(ScriptedHTTPTransport())
        let error = await expectError(NetworkError.self, .encoding) {
            let _: EmptyResponse = try await client.post("/x", body: ["a": Double.infinity])
        }
        #expect(error?.cause is EncodingError)
    }

    @Test("Failed exchanges become their codes and remain available as the cause")
    func wrapsTransportErrors() async throws {
        let rows: [(TransportError.Code, NetworkError.Code)] = [
            (.offline, .noConnection), (.hostNotFound, .noConnection),
            (.connectionRefused, .noConnection), (.connectTimeout, .timeout),
            (.responseTimeout, .timeout), (.deadlineExceeded, .timeout),
            (.connectionLost, .connectionLost), (.truncatedBody, .connectionLost),
            (.protocolViolation, .invalidResponse), (.tlsUntrusted, .transport),
            (.redirectLoop, .transport), (.cancelled, .cancelled), (.invalidRequest, .invalidURL),
        ]
        for (transportCode, code) in rows {
            let transport = ScriptedHTTPTransport([.failure(TransportError(transportCode))])
            let client = try makeClient(transport)
            let error = await expectError(NetworkError.self, code) {
                try await client.request(GetRestaurant(id: "1"))
            }
            #expect(error?.transportError?.code == transportCode)
            #expect(error?.url == "https://api.example.com/v1/restaurants/1")
        }
    }

    @Test("response(to:) reports an invalid request as invalidRequest")
    func reportsInvalidRequest() async throws {
        let client = try makeClient(ScriptedHTTPTransport())
        let error = try #require(await client.response(to: GetRestaurant(id: "..")).failure)
        #expect(error.code == .invalidRequest)
        #expect(error.processed == .no)
        #expect(NetworkError(error).code == .invalidURL)
    }

    @Test("A response beyond the size limit is rejected, whether announced or not")
    func boundsResponses() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks([[1, 2, 3], [4, 5, 6]]),
            .chunks([[1]], headers: [.contentLength: "1000000"]),
            .chunks([[1, 2], [3, 4]]),
        ])
        let client = try makeClient(transport) { $0.responseLimit = 4 }
        for _ in 1...2 {
            let error = try #require(await client.response(to: GetRestaurant(id: "1")).failure)
            #expect(error.code == .responseTooLarge)
            #expect(error.message.contains("4 bytes"))
        }
        #expect(try await client.response(to: GetRestaurant(id: "1")).get().body.count == 4)
    }

    @Test("No text of an error contains a query, a header field or a body")
    func keepsSecrets() async throws {
        let transport = ScriptedHTTPTransport([
            .status(.badRequest, headers: [.setCookie: "s3cret"], body: Array("s3cret".utf8)),
            .json(#"[{"id":"s3cret","displayName":3}]"#),
            .failure(TransportError(.connectionLost)),
        ])
        let client = try makeClient(transport) {
            $0.defaultHeaders = [.authorization: "Bearer s3cret"]
        }
        for _ in 1...3 {
            let error = try #require(
                await #expect(throws: NetworkError.self) {
                    try await client.request(SearchRestaurants(text: "s3cret"))
                }
            )
            var dumped = ""
            dump(error, to: &dumped)
            let texts = [
                error.description, error.debugDescription, error.message, dumped,
                String(describing: error), String(reflecting: error), error.localizedDescription,
                error.url ?? "", error.response.map { "\($0)" } ?? "",
            ]
            #expect(texts.allSatisfy { !$0.contains("s3cret") }, "\(texts)")
        }
    }

    @Test("The phase determines whether the server may have processed the request")
    func derivesProcessed() {
        #expect(TransportError(.connectionRefused).processed == .no)
        #expect(TransportError(.tlsUntrusted).processed == .no)
        #expect(TransportError(.responseTimeout).processed == .maybe)
        #expect(TransportError(.truncatedBody).processed == .yes)
        #expect(TransportError(.deadlineExceeded).processed == .maybe)
    }
}
