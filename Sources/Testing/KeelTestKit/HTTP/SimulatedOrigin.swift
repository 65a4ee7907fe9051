public import HTTPTypes
public import KeelHTTP
import Synchronization

/// An origin that follows a fault schedule on a test's clock and counts the work done.
///
/// Each processed request does one piece of work, named by the request's method and path. A `POST` with a known
/// `Idempotency-Key` does none. A successful response has status 200 and the name of the work as its body:
///
/// ```swift
/// let origin = SimulatedOrigin(FaultSchedule([.lostReply]), clock: clock)
/// let client = NetworkClient(configuration, transport: origin)
/// _ = await client.response(to: Pay(id: "7"))
/// #expect(origin.work["POST /payments/7"] == 1)
/// ```
///
/// With an ``ImmediateClock``, a sequential client's run takes no time and is reproducible.
public final class SimulatedOrigin: HTTPTransport {
    private struct State {
        var faults: ArraySlice<FaultSchedule.Fault?>
        var work: [String: Int] = [:]
        var knownKeys: Set<String> = []
        var requests: [HTTPRequest] = []
        var redirects = 0
    }

    private let clock: any Clock<Duration>
    private let latency: Duration
    private let state: Mutex<State>

    public let features: HTTPTransportFeatures = [
        .streamingUpload, .trailers, .rawContentCoding, .connectionInfo,
    ]

    /// Creates an origin whose requests meet the scheduled faults, and whose responses are delayed by the latency.
    public init(
        _ schedule: FaultSchedule = FaultSchedule([]),
        latency: Duration = .milliseconds(20),
        clock: any Clock<Duration>
    ) {
        self.clock = clock
        self.latency = latency
        state = Mutex(State(faults: schedule.faults[...]))
    }

    /// The number of times each piece of work was done, by method and path: `POST /payments/7`.
    public var work: [String: Int] { state.withLock { $0.work } }

    /// The requests in order, including those that never arrived.
    public var requests: [HTTPRequest] { state.withLock { $0.requests } }

    /// Appends faults to the schedule.
    public func schedule(_ more: FaultSchedule) {
        state.withLock { $0.faults.append(contentsOf: more.faults) }
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let fault = state.withLock { state in
            state.requests.append(call.head)
            return state.faults.popFirst() ?? nil
        }
        switch fault {
        case .refused:
            throw TransportError(.connectionRefused)
        case .staleUnsent:
            throw Self.stale(bytesSent: 0)
        case .staleSent:
            throw Self.stale(bytesSent: nil)
        default:
            break
        }
        _ = try await call.readBody()
        try await pause(latency)
        return try await answer(call.head, fault)
    }

    public func shutdown() async {}

    // MARK: Answers

    private func answer(
        _ head: HTTPRequest,
        _ fault: FaultSchedule.Fault?
    ) async throws(TransportError) -> HTTPReply {
        switch fault {
        case .none, .refused, .staleUnsent, .staleSent:
            return reply(.chunks([perform(head)]))
        case .streamRefused:
            throw TransportError(.streamRefused, processed: .no)
        case .lostRequest:
            throw TransportError(.connectionLost)
        case .lostReply:
            perform(head)
            throw TransportError(.connectionLost)
        case .silence(let patience):
            perform(head)
            try await pause(patience)
            throw TransportError(.responseTimeout)
        case .status(let status):
            return reply(status: status)
        case .statusAfterProcessing(let status):
            perform(head)
            return reply(status: status)
        case .throttled(let seconds):
            return reply(status: 429, headers: [.retryAfter: String(seconds)])
        case .truncated:
            let error = TransportError(.truncatedBody)
            return reply(.chunks([Array(perform(head).prefix(1))], thenThrow: error))
        case .drip(let pause):
            return reply(drip(perform(head), pause))
        case .redirect(let status):
            return reply(status: status, headers: [.location: elsewhere(head)])
        }
    }

    private func reply(
        _ body: HTTPByteStream = .empty,
        status: Int = 200,
        headers: HTTPFields = [:]
    ) -> HTTPReply {
        HTTPReply(
            head: HTTPResponse(status: .init(code: status), headerFields: headers),
            body: body,
            connection: ConnectionInfo(version: "HTTP/1.1")
        )
    }

    /// Does the work of a request and returns its name.
    @discardableResult
    private func perform(_ head: HTTPRequest) -> [UInt8] {
        // The name ignores the query, so that a redirected request does the same work.
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let name = "\(head.method.rawValue) \(path)"
        state.withLock { state in
            if head.method == .post, let key = head.headerFields[.idempotencyKey] {
                guard state.knownKeys.insert(key).inserted else { return }
            }
            state.work[name, default: 0] += 1
        }
        return Array(name.utf8)
    }

    private func drip(_ bytes: [UInt8], _ pause: Duration) -> HTTPByteStream {
        let left = Mutex(bytes[...])
        return HTTPByteStream { () async throws(TransportError) in
            guard let byte = left.withLock({ $0.popFirst() }) else { return nil }
            try await self.pause(pause)
            return [byte]
        }
    }

    /// Returns the same path with a query that the client has not requested yet.
    private func elsewhere(_ head: HTTPRequest) -> String {
        let path = (head.path ?? "/").prefix { $0 != "?" }
        let number = state.withLock { state in
            state.redirects += 1
            return state.redirects
        }
        return "\(path)?hop=\(number)"
    }

    private func pause(_ duration: Duration) async throws(TransportError) {
        guard (try? await clock.sleep(for: duration)) != nil, !Task.isCancelled else {
            throw TransportError(.cancelled)
        }
    }

    private static func stale(bytesSent: Int64?) -> TransportError {
        var error = TransportError(.staleConnection)
        error.bytesSent = bytesSent
        error.reusedConnection = true
        return error
    }
}
