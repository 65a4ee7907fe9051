#if TestServer
public import HTTPTypes
public import KeelTestKit
import NIOCore
import NIOPosix

/// A real server on the loopback interface, for tests: it answers as the test says, and it fails
/// as the test says.
///
/// It listens on a free port of 127.0.0.1 for as long as a closure runs, in plain text or TLS, in
/// HTTP/1.1 or HTTP/2, and leaves nothing behind:
///
/// ```swift
/// try await FaultServer.run(answers: [.json(#"{"id": 1}"#), .status(.serviceUnavailable)]) {
///     server in
///     let client = NetworkClient(baseURL: address, transport: transport)
///     // …
///     let paths = try await server.waitForRequests(2).map(\.path)
///     #expect(paths == ["/v1/a", "/v1/b"])
/// }
/// ```
///
/// A test says what to answer in one of three ways: a queue of answers, a function from requests
/// to answers, or a function that owns the bytes of each connection (``RawConnection``).
public struct FaultServer: Sendable {
    /// What a server answers; see `HTTPTestAnswer` of KeelTestKit.
    public typealias Answer = HTTPTestAnswer
    /// What a server saw; see `HTTPTestRequest` of KeelTestKit.
    public typealias Request = HTTPTestRequest
    /// Answers one request; what it throws is answered with status 500 and kept in ``failures``.
    public typealias Handler = @Sendable (Request) async throws -> Answer

    /// The port on 127.0.0.1.
    public let port: Int
    /// `http` or `https`.
    public let scheme: String
    /// The host that a client should name: the address, or `localhost` where there is TLS.
    public let host: String

    let script: ServerScript
    let journal: Watched<HTTPTestJournal>

    /// The host and the port.
    public var authority: String { "\(host):\(port)" }

    /// The address of a path on this server.
    public func address(_ path: String = "/") -> String { "\(scheme)://\(authority)\(path)" }

    // MARK: Running

    /// Runs a server with a queue of answers for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - configuration: Where and how the server listens.
    ///   - answers: The answers to the first requests, in the order of their heads' arrival.
    ///   - fallback: The answer to all further requests.
    ///   - body: The test. When it returns or throws, every connection is cut.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or an error of the system where no port could be had.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        answers: [Answer] = [],
        then fallback: Answer = .text("No answer is left.", status: .notFound),
        while body: (FaultServer) async throws -> Value
    ) async throws -> Value {
        let script = ServerScript(answers: answers) { _ in fallback }
        return try await run(configuration, script, body)
    }

    /// Runs a server that computes its answers for as long as `body` runs.
    ///
    /// - Parameters:
    ///   - configuration: Where and how the server listens.
    ///   - handler: Answers one request; several run at once. Answers that are enqueued while the
    ///     server runs go first.
    ///   - body: The test. When it returns or throws, every connection is cut.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or an error of the system where no port could be had.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        answering handler: @escaping Handler,
        while body: (FaultServer) async throws -> Value
    ) async throws -> Value {
        try await run(configuration, ServerScript(answers: [], handler), body)
    }

    /// Runs a server that leaves the bytes of every connection to a function.
    ///
    /// - Parameters:
    ///   - configuration: Where and how the server listens. TLS is done for the function.
    ///   - serving: Serves one connection; the connection is closed when it returns.
    ///   - body: The test. When it returns or throws, every connection is cut.
    /// - Returns: What `body` returns.
    /// - Throws: What `body` throws, or an error of the system where no port could be had.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        serving: @escaping @Sendable (RawConnection) async throws -> Void,
        while body: (FaultServer) async throws -> Value
    ) async throws -> Value {
        try await run(configuration, ServerScript(raw: serving), body)
    }

    // MARK: What it saw

    /// The requests whose heads have arrived, in that order.
    public var requests: [Request] { journal.value.requests }

    /// The connections so far, in the order of connecting.
    public var connections: [HTTPTestConnection] { journal.value.connections }

    /// The answers that clients did not wait for.
    public var hangUps: [HTTPTestHangUp] { journal.value.hangUps }

    /// What handlers threw.
    public var failures: [String] { journal.value.failures }

    /// Waits until so many requests have arrived to their end.
    ///
    /// - Parameters:
    ///   - count: How many requests to wait for.
    ///   - whole: Whether their bodies must have arrived; otherwise their heads will do.
    /// - Returns: Those requests, in the order of their heads' arrival.
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForRequests(_ count: Int, whole: Bool = true) async throws -> [Request] {
        try await journal.waitForRequests(count, whole: whole)
    }

    /// Waits until so many answers were given to their end.
    ///
    /// - Returns: The requests that were answered, in the order of their heads' arrival.
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForAnswers(_ count: Int) async throws -> [Request] {
        try await journal.waitForAnswers(count)
    }

    /// Waits until clients have given up so many answers.
    ///
    /// - Returns: The hang-ups so far.
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForHangUps(_ count: Int = 1) async throws -> [HTTPTestHangUp] {
        try await journal.waitForHangUps(count)
    }

    /// Waits until there were so many connections.
    ///
    /// - Parameters:
    ///   - count: How many connections to wait for.
    ///   - closed: Whether they must be over.
    /// - Returns: Those connections.
    /// - Throws: `CancellationError` when the task is cancelled first.
    @discardableResult
    public func waitForConnections(
        _ count: Int,
        closed: Bool = false
    ) async throws -> [HTTPTestConnection] {
        try await journal.waitForConnections(count, closed: closed)
    }

    /// Adds an answer after those that are left.
    public func enqueue(_ answer: Answer) {
        script.enqueue(answer)
    }

    /// Closes every connection, as a server does with those that are idle for too long.
    ///
    /// It returns when all of them are closed.
    public func closeConnections() async {
        await script.closeConnections()
    }
}
#endif
