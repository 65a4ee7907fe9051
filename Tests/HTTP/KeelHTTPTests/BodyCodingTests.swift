import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Custom codings")
struct BodyCodingTests {
    private struct Plist: BodyCoding {
        var mediaType: String { "application/x-plist" }

        func encode(_ value: some Encodable) throws -> [UInt8] {
            let encoder = PropertyListEncoder()
            encoder.outputFormat = .xml
            return Array(try encoder.encode(value))
        }

        func decode<Value: Decodable>(_ type: Value.Type, from bytes: [UInt8]) throws -> Value {
            try PropertyListDecoder().decode(type, from: Data(bytes))
        }
    }

    private struct Day: Codable, Equatable { var openDay: Date }

    private struct Problem: Decodable, Sendable, Equatable { var reasonCode: Int }

    private struct SetDay: Endpoint {
        typealias Response = Day
        let day: Date
        var method: HTTPRequest.Method { .put }
        var path: EndpointPath { "/day" }
        var body: RequestBody? { .value(Day(openDay: day)) }
        var coding: (any BodyCoding)? { JSONCoding(names: .snakeCase, dates: .day) }
        var errorBodies: [ErrorBody] { [.json(Problem.self)] }
    }

    private let day = Date(timeIntervalSince1970: 1_738_281_600)

    @Test("A day is written without a time and read as midnight UTC")
    func codesDays() throws {
        let coding = JSONCoding(dates: .day)
        let late = Day(openDay: day + 86_399)
        #expect(
            String(decoding: try coding.encode(late), as: UTF8.self) == #"{"openDay":"2025-01-31"}"#
        )
        let read = try coding.decode(Day.self, from: Array(#"{"openDay":"2025-01-31"}"#.utf8))
        #expect(read == Day(openDay: day))
        for text in ["2025-02-30", "2025-1-31", "31.01.2025", "2025-01-31T00:00:00Z", ""] {
            #expect(throws: DecodingError.self) {
                try coding.decode(Day.self, from: Array(#"{"openDay":"\#(text)"}"#.utf8))
            }
        }
        let early = Day(openDay: Date(timeIntervalSince1970: -1))
        let written = String(decoding: try coding.encode(early), as: UTF8.self)
        #expect(written == #"{"openDay":"1969-12-31"}"#)
    }

    @Test("A custom date style applies to bodies and queries, with either naming")
    func codesOwnDates() throws {
        let style = DateStyle(
            "hexadecimal",
            read: { Int($0, radix: 16).map { Date(timeIntervalSince1970: Double($0)) } },
            write: {
                $0.timeIntervalSince1970 < 0
                    ? nil : String(Int($0.timeIntervalSince1970), radix: 16)
            }
        )
        for (names, key) in [(JSONCoding.Names.asWritten, "openDay"), (.snakeCase, "open_day")] {
            let coding = JSONCoding(names: names, dates: .custom(style))
            let text = #"{"\#(key)":"ff"}"#
            let value = Day(openDay: Date(timeIntervalSince1970: 255))
            #expect(String(decoding: try coding.encode(value), as: UTF8.self) == text)
            #expect(try coding.decode(Day.self, from: Array(text.utf8)) == value)
            #expect(throws: DecodingError.self) {
                try coding.decode(Day.self, from: Array(#"{"\#(key)":"2025-01-31"}"#.utf8))
            }
            #expect(throws: EncodingError.self) {
                try coding.encode(Day(openDay: Date(timeIntervalSince1970: -1)))
            }
        }
        var query = HTTPQuery()
        query.append("at", Date(timeIntervalSince1970: 255), as: .custom(style))
        query.append("on", day, as: .day)
        #expect(query.encoded == "at=ff&on=2025-01-31")
        #expect(JSONCoding(dates: .custom(style)) == JSONCoding(dates: .custom(style)))
        #expect(JSONCoding(dates: .custom(style)) != JSONCoding(dates: .day))
    }

    @Test("The endpoint's coding overrides the client's for body, response and error")
    func prefersEndpoint() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"open_day":"2025-01-31"}"#),
            .json(#"{"reason_code":7}"#, status: .conflict),
            .json(#"{"id":"1","displayName":"Bar"}"#),
        ])
        let client = try makeClient(transport)
        #expect(try await client.request(SetDay(day: day)) == Day(openDay: day))
        #expect(transport.calls.first?.text == #"{"open_day":"2025-01-31"}"#)
        #expect(transport.calls.first?.head.headerFields[.contentType] == "application/json")
        let error = await #expect(throws: NetworkError.self) {
            try await client.request(SetDay(day: day))
        }
        #expect(error?.errorBody(as: Problem.self) == Problem(reasonCode: 7))
        #expect(try await client.request(GetRestaurant(id: "1")).displayName == "Bar")
    }

    @Test("Custom coders are used for all bodies of a client")
    func takesOwnCoders() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"open_day":1000}"#), .json(#"{"reason_code":7}"#, status: .conflict),
        ])
        let client = try makeClient(transport) {
            $0.coding = FoundationJSONCoding(
                mediaType: "application/vnd.api+json",
                encoder: {
                    let encoder = JSONEncoder()
                    encoder.keyEncodingStrategy = .convertToSnakeCase
                    encoder.dateEncodingStrategy = .secondsSince1970
                    return encoder
                },
                decoder: {
                    let decoder = JSONDecoder()
                    decoder.keyDecodingStrategy = .convertFromSnakeCase
                    decoder.dateDecodingStrategy = .secondsSince1970
                    return decoder
                }
            )
            $0.errorBodies = [.json(Problem.self)]
        }
        let value = Day(openDay: Date(timeIntervalSince1970: 1000))
        #expect(try await client.post("/day", body: value, as: Day.self) == value)
        let call = try #require(transport.calls.first)
        #expect(call.text == #"{"open_day":1000}"#)
        #expect(call.head.headerFields[.contentType] == "application/vnd.api+json")
        #expect(call.head.headerFields[.accept] == "application/vnd.api+json")
        let error = await #expect(throws: NetworkError.self) {
            try await client.put("/day", body: RequestBody.json(value))
        }
        #expect(error?.errorBody(as: Problem.self) == Problem(reasonCode: 7))
    }

    @Test("Another format sends its media type, and explicit JSON stays JSON")
    func takesOtherFormats() async throws {
        let restaurant = Restaurant(id: "1", displayName: "Bar")
        let transport = ScriptedHTTPTransport([
            .status(.ok, body: try Plist().encode(restaurant)), .status(.ok),
            .json(#"{"reason_code":7}"#, status: .conflict), .json("{}"),
        ])
        let client = try makeClient(transport) {
            $0.coding = Plist()
            $0.json = .snakeCase
            $0.errorBodies = [.json(Problem.self)]
        }
        let answer = try await client.post("/x", body: restaurant, as: Restaurant.self)
        #expect(answer == restaurant)
        let call = try #require(transport.calls.first)
        #expect(call.text.hasPrefix("<?xml"))
        #expect(call.head.headerFields[.contentType] == "application/x-plist")
        #expect(call.head.headerFields[.accept] == "application/x-plist")
        try await client.post("/x", body: .json(Credentials(userName: "ann")))
        #expect(transport.calls[1].text == #"{"user_name":"ann"}"#)
        #expect(transport.calls[1].head.headerFields[.contentType] == "application/json")
        let refusal = await #expect(throws: NetworkError.self) {
            try await client.request(GetRestaurant(id: "1"))
        }
        #expect(refusal?.errorBody(as: Problem.self) == Problem(reasonCode: 7))
        await expectError(NetworkError.self, .decoding) {
            try await client.request(GetRestaurant(id: "1"))
        }
    }

    @Test("A response can be decoded by hand as the client decodes it")
    func readsByHand() throws {
        let json = Array(#"{"open_day":"2025-01-31T00:00:00Z"}"#.utf8)
        let response = NetworkResponse(head: HTTPResponse(status: .ok), body: json)
        #expect(try response.value(as: Day.self, coding: .snakeCase) == Day(openDay: day))
        let empty = NetworkResponse(head: HTTPResponse(status: .noContent))
        #expect(try empty.value(as: Day?.self) == nil)
        #expect(try empty.value(as: EmptyResponse.self) == EmptyResponse())
        func code(_ response: NetworkResponse) -> NetworkError.Code? {
            do throws(NetworkError) {
                _ = try response.value(as: Day.self)
                return nil
            } catch { return error.code }
        }
        #expect(code(response) == .decoding)
        #expect(code(empty) == .noData)
        let missing = NetworkResponse(head: HTTPResponse(status: .notFound))
        #expect(code(missing) == .notFound)
        #expect(NetworkError(errorResponse: missing)?.code == .notFound)
        #expect(NetworkError(errorResponse: response) == nil)
        let refusal = NetworkResponse(
            head: HTTPResponse(status: .conflict),
            body: Array(#"{"reason_code":7}"#.utf8)
        )
        let error = NetworkError(
            errorResponse: refusal,
            errorBodies: [.json(Problem.self)],
            coding: .snakeCase
        )
        #expect(error?.errorBody(as: Problem.self) == Problem(reasonCode: 7))
    }
}
