public import HTTPTypes
public import KeelHTTP
import Synchronization

/// A transport that gives prepared answers and records its calls.
///
/// ```swift
/// let transport = ScriptedHTTPTransport([.json(#"{"id": "42"}"#), .status(.notFound)])
/// let client = NetworkClient(baseURL: address, transport: transport)
/// ```
///
/// The answers are given in order, followed by `fallback`. Calls that match a route take no answer from the list:
///
/// ```swift
/// transport.on(.get, "/v1/users/{id}") { match in .value(User(id: match["id"])) }
/// ```
///
/// Streamed request bodies are read completely before the answer, so that ``calls`` contains all bytes. ``verify()``
/// throws if the script was not used up.
public final class ScriptedHTTPTransport: HTTPTransport {
    /// The outcome of one call.
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
        /// The method, target and header fields.
        public let head: HTTPRequest
        /// All bytes of the body; empty if there was none.
        public internal(set) var body: [UInt8]
        /// The timeouts of the exchange.
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

    /// Creates a transport with the answers to the first calls, in order, and to all later ones.
    public init(
        _ answers: [Answer] = [],
        then fallback: Answer = .failure(TransportError(.connectionRefused, "No answer is left.")),
        features: HTTPTransportFeatures = [.streamingUpload, .trailers, .rawContentCoding]
    ) {
        self.features = features
        self.fallback = fallback
        state = Mutex(State(answers: answers[...]))
    }

    /// The calls so far, in order.
    public var calls: [Call] { state.withLock { $0.calls } }

    /// Whether the transport was shut down.
    public var isShutDown: Bool { state.withLock { $0.isShutDown } }

    /// Appends an answer to the list.
    public func enqueue(_ answer: Answer) {
        state.withLock { $0.answers.append(answer) }
    }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard !isShutDown else { throw TransportError(.clientShutdown, processed: .no) }
        let body = try await call.readBody()
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
