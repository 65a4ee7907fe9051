import Foundation
import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import Testing

@Suite("NetworkClient")
struct NetworkClientTests {
    private let json = #"{"id":"1","displayName":"Bar"}"#

    @Test("An endpoint struct returns its declared response type")
    func requestsStructEndpoint() async throws {
        let transport = ScriptedHTTPTransport([.json(json)])
        let restaurant = try await makeClient(transport).request(GetRestaurant(id: "1"))
        #expect(restaurant == Restaurant(id: "1", displayName: "Bar"))
        #expect(transport.calls.first?.head.method == .get)
        #expect(transport.calls.first?.body == [])
    }

    @Test("An operation of a service returns the response type named at the call")
    func requestsServiceEndpoint() async throws {
        let transport = ScriptedHTTPTransport([
            .json(#"{"access_token":"t"}"#), .status(.noContent), .json("{}", status: .conflict),
        ])
        let auth = ServiceClient<AuthEndpoint>(try makeClient(transport) { $0.json = .snakeCase })
        let token = try await auth.request(.login(Credentials(userName: "ann")), as: Token.self)
        #expect(token.accessToken == "t")
        try await auth.request(.logout)
        #expect(try await auth.response(to: .logout).get().status == .conflict)
        let first = try #require(transport.calls.first)
        #expect(first.text == #"{"user_name":"ann"}"#)
        #expect(first.head.headerFields[.contentType] == "application/json")
        #expect(transport.calls.map(\.head.method) == [.post, .delete, .delete])
    }

    @Test("A service's operations can be streamed and downloaded")
    func streamsServiceEndpoints() async throws {
        let events = ScriptedHTTPTransport.Answer.chunks(
            [Array("data: one\n\ndata: two\n\n".utf8)],
            headers: [.contentType: "text/event-stream"]
        )
        let transport = ScriptedHTTPTransport([
            .chunks([[1], [2]]), .chunks([[3], [4]]), events, events, .status(.noContent),
        ])
        let auth = ServiceClient<AuthEndpoint>(try makeClient(transport))
        #expect(try await auth.stream(.logout).body.collect(upTo: 10) == [1, 2])
        #expect(try await Array(auth.download(from: .logout)) == [3, 4])
        var texts: [String] = []
        for try await event in try await auth.events(.logout) { texts.append(event.data) }
        #expect(texts == ["one", "two"])
        // The server ends the stream with the last response.
        var policy = EventStreamPolicy()
        policy.jitter = { 0 }
        for try await event in auth.eventStream(.logout, policy: policy) {
            texts.append(event.data)
        }
        #expect(texts == ["one", "two", "one", "two"])
        #expect(transport.calls.allSatisfy { $0.head.method == .delete })
        #expect(
            transport.calls.map { $0.head.headerFields[.accept] == "text/event-stream" }
                == [false, false, true, true, true]
        )
    }

    @Test("Streams and downloads of a service decode the service's error bodies")
    func readsServiceTypesOfStreams() async throws {
        struct Reason: Decodable, Sendable, Equatable { let reason: String }
        let transport = ScriptedHTTPTransport(
            then: .json(#"{"reason":"closed"}"#, status: .forbidden)
        )
        let auth = ServiceClient<AuthEndpoint>(
            try makeClient(transport),
            errorBodies: [.json(Reason.self)]
        )
        let calls: [@Sendable () async throws(NetworkError) -> Void] = [
            { () async throws(NetworkError) in _ = try await auth.stream(.logout) },
            { () async throws(NetworkError) in _ = try await auth.download(from: .logout) },
            { () async throws(NetworkError) in _ = try await auth.events(.logout) },
            { () async throws(NetworkError) in
                var events = auth.eventStream(.logout).makeAsyncIterator()
                _ = try await events.next()
            },
        ]
        for call in calls {
            let error = await #expect(throws: NetworkError.self) { try await call() }
            #expect(error?.errorBody(as: Reason.self) == Reason(reason: "closed"))
        }
    }

    @Test("An endpoint of the main actor can be requested")
    @MainActor
    func acceptsMainActorEndpoints() async throws {
        @MainActor struct Local: @MainActor Endpoint {
            typealias Response = Restaurant
            var path: EndpointPath { "/x" }
        }
        let client = try makeClient(ScriptedHTTPTransport([.json(json)]))
        #expect(try await client.request(Local()).id == "1")
    }

    @Test("An endpoint's header fields replace default fields of the same name")
    func mergesHeaders() async throws {
        struct Custom: ServiceEndpoint {
            var path: EndpointPath { "/x" }
            var headers: HTTPFields { [.accept: "text/plain"] }
        }
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let client = try makeClient(transport) {
            $0.defaultHeaders = [.accept: "application/json", .userAgent: "Keel"]
        }
        _ = try await client.download(from: Custom())
        let fields = try #require(transport.calls.first?.head.headerFields)
        #expect(fields[values: .accept] == ["text/plain"])
        #expect(fields[.userAgent] == "Keel")
    }

    @Test("The verbs send their method and their body as JSON")
    func sendsVerbs() async throws {
        let transport = ScriptedHTTPTransport(then: .json(json))
        let client = try makeClient(transport)
        let body = Credentials(userName: "ann")
        let _: Restaurant = try await client.get("/x", query: ["a": "b"])
        let _: Restaurant = try await client.post("/x", body: body)
        let _: Restaurant = try await client.put("/x", body: body)
        let _: Restaurant = try await client.patch("/x", body: body)
        try await client.delete("/x")
        #expect(transport.calls.map(\.head.method) == [.get, .post, .put, .patch, .delete])
        #expect(transport.calls[1...3].allSatisfy { $0.text == #"{"userName":"ann"}"# })
        #expect(transport.calls[0].head.path == "/v1/x?a=b")
    }

    @Test("Uploads send bytes with POST, and downloads return the bytes")
    func uploadsAndDownloads() async throws {
        let transport = ScriptedHTTPTransport([.json(json), .chunks([[1, 2], [3]])])
        let client = try makeClient(transport)
        let stored = try await client.upload(Data([9, 8]), to: GetRestaurant(id: "1"))
        #expect(stored.id == "1")
        let call = try #require(transport.calls.first)
        #expect(call.head.method == .post)
        #expect(call.body == [9, 8])
        #expect(call.head.headerFields[.contentType] == "application/octet-stream")
        #expect(try await client.download(from: GetRestaurant(id: "1")) == Data([1, 2, 3]))
    }

    @Test("Forms are sent URL-encoded")
    func sendsForms() async throws {
        struct Form: ServiceEndpoint {
            var method: HTTPRequest.Method { .post }
            var path: EndpointPath { "/token" }
            var body: RequestBody? { .form(["grant": "a b", "x": "1&2"]) }
        }
        let transport = ScriptedHTTPTransport([.status(.ok)])
        _ = try await makeClient(transport).download(from: Form())
        #expect(transport.calls.first?.text == "grant=a%20b&x=1%262")
    }

    @Test("An empty body is accepted for EmptyResponse and for an optional")
    func acceptsEmptyAnswers() async throws {
        let client = try makeClient(ScriptedHTTPTransport(then: .status(.noContent)))
        _ = try await client.request(GetRestaurant(id: "1"), as: EmptyResponse.self)
        let value = try await client.request(GetRestaurant(id: "1"), as: Restaurant?.self)
        #expect(value == nil)
    }

    @Test("Dates are read with or without a fraction, in any zone, and written in whole seconds")
    func codesDates() throws {
        struct Dated: Codable { var at: Date }
        let coding = JSONCoding.standard
        for text in [
            "2025-01-31T08:00:00Z", "2025-01-31T08:00:00.000Z", "2025-01-31T10:00:00+02:00",
        ] {
            let dated = try coding.decode(Dated.self, from: Array(#"{"at":"\#(text)"}"#.utf8))
            #expect(dated.at == Date(timeIntervalSince1970: 1_738_310_400), "\(text)")
        }
        let half = try coding.decode(
            Dated.self,
            from: Array(#"{"at":"2025-01-31T08:00:00.500Z"}"#.utf8)
        )
        #expect(abs(half.at.timeIntervalSince1970 - 1_738_310_400.5) < 0.001)
        let written = try coding.encode(Dated(at: Date(timeIntervalSince1970: 1_738_310_400)))
        #expect(String(decoding: written, as: UTF8.self) == #"{"at":"2025-01-31T08:00:00Z"}"#)
        for dates in [JSONCoding.Dates.secondsSince1970, .millisecondsSince1970] {
            let coding = JSONCoding(dates: dates)
            let copy = try coding.decode(
                Dated.self,
                from: try coding.encode(Dated(at: Date(timeIntervalSince1970: 12)))
            )
            #expect(copy.at == Date(timeIntervalSince1970: 12))
        }
    }

    @Test("Middleware runs in order, the first layer outermost")
    func ordersMiddleware() async throws {
        struct Mark: HTTPMiddleware {
            let letter: String
            func intercept(
                _ call: HTTPCall,
                next: HTTPNext
            ) async throws(TransportError) -> HTTPReply {
                var call = call
                call.head.headerFields[.userAgent] =
                    (call.head.headerFields[.userAgent] ?? "") + letter
                var reply = try await next(call)
                reply.head.headerFields[.server] =
                    (reply.head.headerFields[.server] ?? "") + letter
                return reply
            }
        }
        let transport = ScriptedHTTPTransport([.status(.ok)])
        let client = try makeClient(transport) {
            $0.middleware = [Mark(letter: "a"), Mark(letter: "b")]
        }
        let response = try await client.response(to: GetRestaurant(id: "1")).get()
        #expect(transport.calls.first?.head.headerFields[.userAgent] == "ab")
        #expect(response.head.headerFields[.server] == "ba")
    }

    @Test("The total time ends a call that waits for the response head")
    func limitsHead() async throws {
        let clock = GateClock()
        clock.open()
        let client = try makeClient(ScriptedHTTPTransport([.stall])) { $0.clock = clock }
        let result = await client.response(to: GetRestaurant(id: "1"))
        #expect(throws: TransportError.self) { try result.get() }
        guard case .failure(let error) = result else { return }
        #expect(error.code == .deadlineExceeded)
        #expect(clock.sleeps == [.seconds(60)])
    }

    @Test("The total time ends a call whose body stalls")
    func limitsBody() async throws {
        let clock = GateClock()
        let transport = ScriptedHTTPTransport([
            .stallingBody(after: [[1], [2]], onStall: { clock.open() })
        ])
        let client = try makeClient(transport) { $0.clock = clock }
        let error = await #expect(throws: NetworkError.self) {
            let _: Restaurant = try await client.get("/x", timeout: .seconds(5))
        }
        #expect(error?.code == .timeout)
        #expect(error?.transportError?.code == .deadlineExceeded)
        #expect(clock.sleeps == [.seconds(5)])
    }

    @Test("The total time of a stream covers only the head unless the whole response is requested")
    func limitsStreams() async throws {
        let clock = GateClock()
        let transport = ScriptedHTTPTransport(
            then: .stallingBody(after: [[1]], onStall: { clock.open() })
        )
        let client = try makeClient(transport) { $0.clock = clock }
        let whole = try await client.stream(GetRestaurant(id: "1"), timeoutCovers: .wholeResponse)
        let error = await #expect(throws: TransportError.self) {
            try await whole.body.collect(upTo: 10)
        }
        #expect(error?.code == .deadlineExceeded)
        let head = try await client.stream(GetRestaurant(id: "1"))
        var chunks = head.body.makeAsyncIterator()
        #expect(try await chunks.next()?.first == 1)
        #expect(transport.calls.allSatisfy { $0.timeouts.idle == .seconds(60) })
    }

    @Test("Canceling the caller ends a call with the code cancelled")
    func cancels() async throws {
        let (started, continuation) = AsyncStream.makeStream(of: Void.self)
        let transport = ScriptedHTTPTransport([
            .stallingBody(after: [], onStall: { continuation.finish() })
        ])
        let client = try makeClient(transport) { $0.clock = GateClock() }
        let task = Task { await client.response(to: GetRestaurant(id: "1")) }
        for await _ in started {}
        task.cancel()
        let error = try #require(await task.value.failure)
        #expect(error.isCancellation)
        #expect(NetworkError(error).isCancellation)
    }

    @Test("An event stream is requested and read")
    func readsEvents() async throws {
        let transport = ScriptedHTTPTransport([
            .chunks(
                [Array("id: 7\nda".utf8), Array("ta: one\n\ndata: two\n\ndata: lost".utf8)],
                headers: [.contentType: "text/event-stream; charset=utf-8"]
            ),
            .json("{}"),
        ])
        let client = try makeClient(transport)
        var events: [ServerSentEvent] = []
        for try await event in try await client.events(GetRestaurant(id: "1")) {
            events.append(event)
        }
        #expect(events.map(\.data) == ["one", "two"])
        #expect(events.map(\.lastEventID) == ["7", "7"])
        #expect(transport.calls.first?.head.headerFields[.accept] == "text/event-stream")
        #expect(transport.calls.first?.timeouts.idle == .seconds(60))
        let error = await #expect(throws: NetworkError.self) {
            _ = try await client.events(GetRestaurant(id: "1"))
        }
        #expect(error?.code == .invalidResponse)
    }

    @Test("A transport that was shut down rejects calls")
    func refusesAfterShutdown() async throws {
        let transport = ScriptedHTTPTransport()
        await transport.shutdown()
        let error = await #expect(throws: TransportError.self) {
            _ = try await transport.send(
                HTTPCall(HTTPRequest(method: .get, scheme: "http", authority: "h", path: "/"))
            )
        }
        #expect(error?.code == .clientShutdown)
    }
}
