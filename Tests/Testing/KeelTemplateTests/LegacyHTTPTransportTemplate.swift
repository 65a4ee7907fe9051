import HTTPTypes
import KeelHTTP
import Synchronization
import Testing

// A template of a transport over a client with callbacks, such as Alamofire's Session. Copy it, replace LegacySession
// with your client (without its retrier and redirect handler, because Keel has layers for these), and run
// HTTPTransportCheck and HTTPFaultCheck on the result. An app that migrates to Keel step by step keeps one pool of
// connections this way.

/// A transport over a legacy client.
///
/// | feature | |
/// |---|---|
/// | all | no: both bodies are in memory, and the connection is unknown |
final class LegacyHTTPTransport: HTTPTransport {
    private let session: LegacySession
    private let isShutDown = Atomic(false)

    /// The largest streamed body in bytes.
    private static let bodyLimit = 64 << 20

    init(_ session: LegacySession) { self.session = session }

    var features: HTTPTransportFeatures { [] }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !isShutDown.load(ordering: .acquiring) else {
            throw TransportError(.clientShutdown, processed: .no, url: call.redactedURL)
        }
        let request = try await request(for: call)
        let result = await LegacyExchange().run { [session] in session.start(request, $0) }
        switch result {
        case .success(let response):
            var head = HTTPResponse(status: .init(code: response.status))
            // Appended one by one, because fields of one name, such as `Set-Cookie`, must stay separate.
            for (name, value) in response.headers {
                guard let name = HTTPField.Name(name) else { continue }
                head.headerFields.append(HTTPField(name: name, value: value))
            }
            return HTTPReply(head: head, body: .chunks([response.body]))
        case .failure(let failure):
            // The client's own text is dropped, because it may contain the address with its query.
            throw TransportError(failure.code, url: call.redactedURL)
        }
    }

    func shutdown() async {
        isShutDown.store(true, ordering: .releasing)
        session.cancelAll()
    }

    private func request(for call: HTTPCall) async throws(TransportError) -> LegacyRequest {
        let head = call.head
        guard let scheme = head.scheme, let authority = head.authority, let path = head.path else {
            throw TransportError(.invalidRequest, url: call.redactedURL)
        }
        var body: [UInt8]?
        if let sent = call.body {
            do throws(TransportError) {
                body = try await sent.open().collect(upTo: Self.bodyLimit)
            } catch {
                guard error.code != .cancelled else { throw error }
                throw TransportError(
                    .bodyProducerFailed,
                    processed: .no,
                    url: call.redactedURL,
                    cause: error
                )
            }
        }
        var fields = head.headerFields
        // HTTPTypes makes a field of each cookie, and HTTP/1.1 allows one for all.
        if let cookies = fields[.cookie] { fields[values: .cookie] = [cookies] }
        return LegacyRequest(
            method: head.method.rawValue,
            address: "\(scheme)://\(authority)\(path)",
            headers: fields.map { ($0.name.rawName, $0.value) },
            body: body,
            timeout: call.timeouts.firstByte
        )
    }
}

/// A request of the legacy client, which is canceled with the task that waits for it.
private final class LegacyExchange: Sendable {
    private struct State {
        var task: LegacyTask?
        var isCancelled = false
    }

    private let state = Mutex(State())

    func run(
        _ start: (@escaping @Sendable (LegacyResult) -> Void) -> LegacyTask
    ) async -> LegacyResult {
        await withTaskCancellationHandler {
            await withCheckedContinuation { waiter in
                let task = start { waiter.resume(returning: $0) }
                let isCancelled = state.withLock { state in
                    state.task = task
                    return state.isCancelled
                }
                if isCancelled { task.cancel() }
            }
        } onCancel: {
            let task = state.withLock { state in
                state.isCancelled = true
                return state.task
            }
            task?.cancel()
        }
    }
}

extension LegacyFailure {
    /// The equivalent code, from which a retry infers whether anything was sent.
    fileprivate var code: TransportError.Code {
        switch self {
        case .cancelled: .cancelled
        case .timedOut: .responseTimeout
        case .hostNotFound: .hostNotFound
        case .notConnected: .offline
        case .secureConnectionFailed: .tlsHandshakeFailed
        case .connectionLost: .connectionLost
        case .other: .unknown
        }
    }
}

// MARK: The client

typealias LegacyResult = Result<LegacyResponse, LegacyFailure>

struct LegacyRequest: Sendable {
    var method: String
    var address: String
    var headers: [(String, String)]
    var body: [UInt8]?
    var timeout: Duration?
}

struct LegacyResponse: Sendable {
    var status: Int
    var headers: [(String, String)] = []
    var body: [UInt8] = []
}

enum LegacyFailure: Error, CaseIterable, Sendable {
    case cancelled, timedOut, hostNotFound, notConnected
    case secureConnectionFailed, connectionLost, other
}

/// A request in progress; it ends once, with its result or by cancellation.
final class LegacyTask: Sendable {
    private let completion: Mutex<(@Sendable (LegacyResult) -> Void)?>

    fileprivate init(_ completion: @escaping @Sendable (LegacyResult) -> Void) {
        self.completion = Mutex(completion)
    }

    func cancel() { end(.failure(.cancelled)) }

    fileprivate func end(_ result: LegacyResult) {
        completion.withLock { $0.take() }?(result)
    }
}

/// The imaginary client, with a server that tests control; the client stays silent if the server returns nil.
final class LegacySession: Sendable {
    private let server: @Sendable (LegacyRequest) -> LegacyResult?
    private let tasks = Mutex<[LegacyTask]>([])
    let (started, starting) = AsyncStream<Void>.makeStream()

    init(_ server: @escaping @Sendable (LegacyRequest) -> LegacyResult?) { self.server = server }

    func start(
        _ request: LegacyRequest,
        _ completion: @escaping @Sendable (LegacyResult) -> Void
    ) -> LegacyTask {
        let task = LegacyTask(completion)
        tasks.withLock { $0.append(task) }
        if let result = server(request) { task.end(result) }
        starting.yield()
        return task
    }

    func cancelAll() { for task in tasks.withLock({ $0 }) { task.cancel() } }
}

// MARK: Checks

@Suite("Template of a transport over a legacy client", .timeLimit(.minutes(10)))
struct LegacyHTTPTransportTests {
    private func call(body: HTTPBody? = nil) -> HTTPCall {
        HTTPCall(
            HTTPRequest(
                method: .post,
                scheme: "https",
                authority: "api.example.org",
                path: "/notes?token=secret",
                headerFields: [.accept: "application/json"]
            ),
            body: body
        )
    }

    @Test("A request and its response are transferred completely")
    func roundTrip() async throws {
        let seen = Mutex<LegacyRequest?>(nil)
        let transport = LegacyHTTPTransport(
            LegacySession { request in
                seen.withLock { $0 = request }
                let cookies = [("Set-Cookie", "a=1; Secure"), ("Set-Cookie", "b=2")]
                return .success(LegacyResponse(status: 201, headers: cookies, body: [1, 2]))
            }
        )
        let reply = try await transport.send(call(body: HTTPBody([7, 8, 9])))
        let request = try #require(seen.withLock { $0 })
        #expect(request.method == "POST")
        #expect(request.address == "https://api.example.org/notes?token=secret")
        #expect(request.headers.contains { $0 == ("Accept", "application/json") })
        #expect(request.body == [7, 8, 9])
        #expect(reply.head.status == .created)
        #expect(reply.head.headerFields[values: .setCookie] == ["a=1; Secure", "b=2"])
        #expect(try await reply.body.collect(upTo: 10) == [1, 2])
    }

    @Test(
        "Each failure is mapped to an error code without revealing the query",
        arguments: LegacyFailure.allCases
    )
    func failures(_ failure: LegacyFailure) async {
        let transport = LegacyHTTPTransport(LegacySession { _ in .failure(failure) })
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(call())
        }
        #expect((error?.code == .unknown) == (failure == .other))
        #expect("\(String(describing: error))".contains("secret") == false)
    }

    @Test("A body that cannot be produced ends the call before it is sent")
    func failingBody() async {
        let session = LegacySession { _ in .success(LegacyResponse(status: 200)) }
        let body = HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
            throw TransportError(.unknown)
        }
        let error = await #expect(throws: TransportError.self) {
            try await LegacyHTTPTransport(session).send(call(body: body))
        }
        #expect(error?.code == .bodyProducerFailed)
    }

    @Test("Canceling the task ends an unanswered request")
    func cancels() async {
        let session = LegacySession { _ in nil }
        let transport = LegacyHTTPTransport(session)
        let sending = Task { () async throws -> HTTPReply in try await transport.send(call()) }
        var started = session.started.makeAsyncIterator()
        await started.next()
        sending.cancel()
        let error = await #expect(throws: TransportError.self) { try await sending.value }
        #expect(error?.code == .cancelled)
    }

    @Test("Shutdown ends pending calls and rejects later ones")
    func shutsDown() async {
        let session = LegacySession { _ in nil }
        let transport = LegacyHTTPTransport(session)
        let sending = Task { () async throws -> HTTPReply in try await transport.send(call()) }
        var started = session.started.makeAsyncIterator()
        await started.next()
        await transport.shutdown()
        await #expect(throws: TransportError.self) { try await sending.value }
        let error = await #expect(throws: TransportError.self) {
            try await transport.send(call())
        }
        #expect(error?.code == .clientShutdown)
    }
}
