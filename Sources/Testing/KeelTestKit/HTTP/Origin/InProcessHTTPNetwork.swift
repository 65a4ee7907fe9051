import Synchronization

/// A network of origins without sockets.
///
/// Its transport reports each fault with the code, the phase and the certainty of a perfect transport: a fast model for
/// tests of layers. Properties of real connections, such as TLS, are simulated from the script.
public final class InProcessHTTPNetwork: HTTPTestOrigins, Sendable {
    private struct State {
        var hosts: [String: Host] = [:]
        var lastPort = 0
    }

    private let state = Mutex(State())
    private let clock: any Clock<Duration>

    /// Creates a network without origins.
    ///
    /// - Parameter clock: The clock of the answers' pauses and the calls' timeouts.
    public init(clock: any Clock<Duration> = ContinuousClock()) {
        self.clock = clock
    }

    public func run<Value: Sendable>(
        _ script: HTTPTestScript,
        operation: @Sendable (any HTTPTestOrigin) async throws -> Value
    ) async throws -> Value {
        let host = state.withLock { state in
            state.lastPort += 1
            let host = Host(script, authority: "origin-\(state.lastPort).test", clock)
            state.hosts[host.authority] = host
            return host
        }
        defer { state.withLock { _ = $0.hosts.removeValue(forKey: host.authority) } }
        return try await operation(host)
    }

    /// Returns a transport that reaches the origins of this network with the given access.
    public func transport(_ access: HTTPTestAccess = HTTPTestAccess()) -> InProcessHTTPTransport {
        InProcessHTTPTransport(self, access, clock)
    }

    func host(_ authority: String) -> Host? {
        state.withLock { $0.hosts[authority] }
    }

    final class Host: HTTPTestOrigin, Sendable {
        let script: HTTPTestScript
        let authority: String
        let journal = Watched(HTTPTestJournal())
        private let queue = Mutex<ArraySlice<HTTPTestAnswer>>([])

        init(_ script: HTTPTestScript, authority: String, _ clock: any Clock<Duration>) {
            self.script = script
            self.authority = authority
        }

        var scheme: String { script.security == .none ? "http" : "https" }

        var access: HTTPTestAccess {
            var access = HTTPTestAccess()
            if script.client != .none { access.clientCertificatePEM = "\(script.client)" }
            switch script.pins {
            case .none: break
            case .matching: access.pins = [[2], [1]]
            case .mismatching: access.pins = [[2]]
            }
            return access
        }

        var requests: [HTTPTestRequest] { journal.value.requests }

        func enqueue(_ answer: HTTPTestAnswer) {
            queue.withLock { $0.append(answer) }
        }

        func nextAnswer() -> HTTPTestAnswer? {
            queue.withLock { $0.popFirst() }
        }

        func waitForRequests(_ count: Int, whole: Bool) async throws -> [HTTPTestRequest] {
            try await journal.waitForRequests(count, whole: whole)
        }

        func waitForDisconnects(_ count: Int) async throws -> [HTTPTestDisconnect] {
            try await journal.waitForDisconnects(count)
        }
    }
}
