import Foundation
import HTTPTypes
import KeelHTTP
import KeelNetworkStatus
import KeelRepositories
import KeelStorage
import KeelSync
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Outbox requests")
struct OutboxRequestTests {
    private struct PostNote: Endpoint {
        typealias Response = EmptyResponse
        var text: String
        var method: HTTPRequest.Method { .post }
        var path: EndpointPath { "/notes/\("a/b")" }
        var query: HTTPQuery { ["q": "x & y"] }
        var headers: HTTPFields { [.accept: "text/plain", .authorization: "Bearer secret"] }
        var body: RequestBody? { .json(["text": text]) }
    }

    @Test(
        "A request is sent as the endpoint defines it, with its key and without stored credentials"
    )
    func sendsRequests() async throws {
        let service = try TestService()
        service.transport.enqueue(contentsOf: [.json("{}")])
        let write = try OutboxRequest(PostNote(text: "hello")).write(key: "notes/1", id: "id-1")
        #expect(!"\(write.attributes)".contains("secret"))
        let storage = StorageClient(InMemoryStorageAdapter())
        let outbox = Outbox(storage)
        try await outbox.enqueue(write)
        #expect(try await outbox.flush(sending: HTTPOutboxSender(service.client)))
        let call = try #require(service.transport.calls.first)
        #expect(call.head.method == .post)
        #expect(call.head.path == "/v1/notes/a%2Fb?q=x%20%26%20y")
        #expect(call.head.headerFields[.accept] == "text/plain")
        #expect(call.head.headerFields[.contentType] == "application/json")
        #expect(call.head.headerFields[.authorization] == nil)
        #expect(call.head.headerFields[try #require(.init("Idempotency-Key"))] == "\"id-1\"")
        #expect(String(decoding: call.body, as: UTF8.self) == #"{"text":"hello"}"#)
    }

    @Test("Several header fields of one name are all sent")
    func keepsRepeatedFields() async throws {
        struct Post: ServiceEndpoint {
            var method: HTTPRequest.Method { .post }
            var path: EndpointPath { "/notes" }
            var headers: HTTPFields {
                var fields: HTTPFields = [.accept: "text/plain"]
                fields.append(HTTPField(name: .accept, value: "text/html"))
                return fields
            }
        }
        let service = try TestService()
        service.transport.enqueue(contentsOf: [.json("{}")])
        let write = try OutboxRequest(Post()).write(key: "k")
        _ = await HTTPOutboxSender(service.client).send(OutboxDelivery(write))
        let call = try #require(service.transport.calls.first)
        #expect(call.head.headerFields[.accept] == "text/plain, text/html")
    }

    @Test("A streamed body cannot be stored")
    func refusesStreams() {
        struct Upload: ServiceEndpoint {
            var method: HTTPRequest.Method { .post }
            var path: EndpointPath { "/files" }
            var body: RequestBody? { .stream(HTTPBody([1]), contentType: "image/png") }
        }
        expectError(DataSourceError.self, .invalidRequest) { try OutboxRequest(Upload()) }
    }

    private func verdict(
        _ answer: ScriptedHTTPTransport.Answer,
        _ endpoint: some ServiceEndpoint = PostNote(text: "")
    ) async throws -> OutboxVerdict {
        let service = try TestService()
        service.transport.enqueue(contentsOf: [answer])
        let write = try OutboxRequest(endpoint).write(key: "k")
        return await HTTPOutboxSender(service.client).send(OutboxDelivery(write))
    }

    @Test("Each status has the verdict in the table", arguments: 200..<600)
    func judgesStatuses(status: Int) async throws {
        let verdict = try await verdict(.status(.init(code: status), headers: [.retryAfter: "7"]))
        let reason = "The service responded with status \(status)."
        let expected: OutboxVerdict =
            switch status {
            case 200..<300: .accepted()
            case 401: .unreachable(reason: reason)
            case 408, 425, 429, 500, 502, 503, 504: .failed(reason: reason, after: .seconds(7))
            default: .rejected(reason: reason)
            }
        #expect(verdict == expected)
    }

    @Test("A conflict with an attempt that the server may be processing rejects no write")
    func waitsForEarlierAttempts() async throws {
        let conflict = ScriptedHTTPTransport.Answer.status(.conflict, headers: [.retryAfter: "0"])
        let reason = "The service responded with status 409."
        let write = try OutboxRequest(PostNote(text: "")).write(key: "k")
        let service = try TestService()
        service.transport.enqueue(contentsOf: [conflict])
        let later = OutboxDelivery(write, attempt: 2, mayHaveArrived: true)
        let verdict = await HTTPOutboxSender(service.client).send(later)
        #expect(verdict == .failed(reason: reason, after: .zero))
        let slow = ScriptedHTTPTransport(
            [.failure(TransportError(.responseTimeout))],
            then: conflict
        )
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.clock = ImmediateClock()
        configuration.timeout = nil
        let client = NetworkClient(configuration, transport: slow)
        let first = await HTTPOutboxSender(client).send(OutboxDelivery(write))
        #expect(first == .failed(reason: reason, after: .zero))
        #expect(slow.calls.count == 3)
    }

    @Test("Deleting what is already gone succeeds")
    func acceptsGone() async throws {
        for status in [404, 410] {
            let verdict = try await verdict(.status(.init(code: status)), DeleteRestaurant(id: "1"))
            #expect(verdict == .accepted())
        }
    }

    @Test(
        "The verdict on a failed exchange depends on its code",
        arguments: TransportError.Code.known
    )
    func judgesFailures(code: TransportError.Code) async throws {
        let error = TransportError(code)
        switch try await verdict(.failure(error)) {
        case .unreachable: #expect(error.processed == .no)
        case .failed: #expect(code != .invalidRequest)
        case .rejected: #expect(code == .invalidRequest)
        case .accepted: Issue.record("a failure is no success")
        }
        if code == .offline || code == .connectionRefused || code == .connectTimeout {
            #expect(try await verdict(.failure(error)) == .unreachable(reason: error.message))
        }
    }

    @Test("A write waits for its owner, but not for a token source to name its user")
    func judgesOwners() async throws {
        func verdict(_ code: AuthenticationError.Code) async throws -> OutboxVerdict {
            let cause = AuthenticationError(code)
            return try await self.verdict(
                .failure(TransportError(.credentialsUnavailable, cause: cause))
            )
        }
        guard case .unreachable = try await verdict(.superseded)
        else { return fail("the owner may sign in later") }
        let reason = AuthenticationError(.userUnknown).message
        #expect(try await verdict(.userUnknown) == .rejected(reason: reason))
    }

    @Test("A write of another kind is rejected without sending")
    func rejectsOthers() async throws {
        let service = try TestService()
        let verdict = await HTTPOutboxSender(service.client)
            .send(OutboxDelivery(OutboxWrite(key: "k", kind: "other")))
        guard case .rejected = verdict else { return fail("\(verdict)") }
        #expect(service.transport.calls.isEmpty)
    }

    @Test("The network's states determine whether the service may be reachable")
    func tellsWays() async {
        let source = ScriptedNetworkPathSource(.init(.satisfied))
        let network = NetworkStatus(source)
        var states = network.onlineStates.makeAsyncIterator()
        #expect(await states.next() == true)
        source.set(.init(.unsatisfied))
        #expect(await states.next() == false)
        source.set(.init(.unknown))
        #expect(await states.next() == true)
    }
}
