public import HTTPTypes
public import KeelHTTP
import Synchronization

/// A transport that gives prepared answers and remembers the calls.
///
/// ```swift
/// let transport = ScriptedHTTPTransport([.json(#"{"id": "42"}"#), .status(.notFound)])
/// let client = NetworkClient(baseURL: address, transport: transport)
/// ```
///
/// The answers are given in order; after the last one, `fallback` answers. Calls that a route fits
/// are answered by it and take no answer from the list:
///
/// ```swift
/// transport.on(.get, "/v1/users/{id}") { match in .value(User(id: match["id"])) }
/// ```
///
/// Streamed request bodies are read to their end before the answer, so that ``calls`` has all
/// bytes. ``verify()`` fails a test whose script was not used up.
public final class ScriptedHTTPTransport: HTTPTransport {
    /// What becomes of one call.
    public struct Answer: Sendable {
        let perform: @Sendable (Call) async throws(TransportError) -> HTTPReply

        /// Creates an answer that is computed from the call.
        public init(
            _ perform: @escaping @Sendable (Call) async throws(TransportError) -> HTTPReply
        ) {
            self.perform = perform
        }
    }

    /// A call as it reached the transport.
    public struct Call: Sendable, Hashable {
        /// The method, the target and the header fields.
        public let head: HTTPRequest
        /// All bytes of the body; empty where there was none.
        public internal(set) var body: [UInt8]
        /// The limits inside the exchange.
        public let timeouts: HTTPTimeouts

        /// The body as text.
        public var text: String { String(decoding: body, as: UTF8.self) }
    }

    struct State {
        var answers: ArraySlice<Answer>
        var routes: [Route] = []
        var calls: [Call] = []
        var isShutDown = false
    }

    public let features: HTTPTransportFeatures
    private let fallback: Answer
    let state: Mutex<State>

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - answers: The answers to the first calls, in order.
    ///   - fallback: The answer to all further calls.
    ///   - features: What the transport claims to be able to do.
    public init(
        _ answers: [Answer] = [],
        then fallback: Answer = .failure(TransportError(.connectionRefused, "No answer is left.")),
        features: HTTPTransportFeatures = [.streamingUpload, .trailers, .rawContentCoding]
    ) {
        self.features = features
        self.fallback = fallback
        state = Mutex(State(answers: answers[...]))
    }

    /// The calls so far, in the order of their arrival.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// Whether the transport was shut down.
    public var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Adds an answer after those that are left.
    public func enqueue(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !isShutDown else { throw TransportError(.clientShutdown, processed: .no) }
        let body = try await call.body?.open().collect(upTo: .max) ?? []
        let seen = Call(head: call.head, body: body, timeouts: call.timeouts)
        let answer = state.withLock { state in
            state.calls.append(seen)
            return state.route(seen) ?? state.answers.popFirst() ?? fallback
        }
        return try await answer.perform(seen)
    }

    public func shutdown() async {
        state.withLock { $0.isShutDown = true }
    }
}
