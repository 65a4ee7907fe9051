#if TestServer
public import HTTPTypes
public import KeelTestKit
import NIOCore
import NIOPosix

/// A real server on the loopback interface, for tests, whose answers and failures the test controls.
///
/// The server listens on a free port of 127.0.0.1 while a closure runs, in plaintext or TLS, with HTTP/1.1 or HTTP/2,
/// and leaves nothing behind:
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
/// A test provides the answers as a queue, as a function from requests to answers, or as a function that handles the
/// bytes of each connection (``RawConnection``).
public struct FaultServer: Sendable {
    /// An answer of the server; see `HTTPTestAnswer` of KeelTestKit.
    public typealias Answer = HTTPTestAnswer
    /// A recorded request; see `HTTPTestRequest` of KeelTestKit.
    public typealias Request = HTTPTestRequest
    /// A function that answers a request; its errors are answered with status 500 and recorded in ``failures``.
    public typealias Handler = @Sendable (Request) async throws -> Answer

    /// The port on 127.0.0.1.
    public let port: Int
    /// The scheme, `http` or `https`.
    public let scheme: String
    /// The host that a client should use: the address, or `localhost` with TLS.
    public let host: String

    let script: ServerScript
    let journal: Watched<HTTPTestJournal>

    /// The host and the port.
    public var authority: String { "\(host):\(port)" }

    /// Returns the address of a path on this server.
    public func address(_ path: String = "/") -> String { "\(scheme)://\(authority)\(path)" }

    // MARK: Running

    /// Runs a server with a queue of answers while `operation` runs.
    ///
    /// Requests get the answers in the order in which their heads arrive, and then `fallback`. When `operation` returns
    /// or throws, every connection is cut.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        answers: [Answer] = [],
        fallback: Answer = .text("No answer is left.", status: .notFound),
        operation: (FaultServer) async throws -> Value
    ) async throws -> Value {
        let script = ServerScript(answers: answers) { _ in fallback }
        return try await run(configuration, script, operation)
    }

    /// Runs a server that computes its answers while `operation` runs.
    ///
    /// The handler runs concurrently for several requests. Answers that are enqueued while the server runs take
    /// precedence. When `operation` returns or throws, every connection is cut.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        answering handler: @escaping Handler,
        operation: (FaultServer) async throws -> Value
    ) async throws -> Value {
        try await run(configuration, ServerScript(answers: [], handler), operation)
    }

    /// Runs a server whose connections are handled by a function.
    ///
    /// The server performs TLS itself, and closes a connection when its function returns. When `operation` returns
    /// or throws, every connection is cut.
    public static func run<Value>(
        _ configuration: Configuration = Configuration(),
        serving: @escaping @Sendable (RawConnection) async throws -> Void,
        operation: (FaultServer) async throws -> Value
    ) async throws -> Value {
        try await run(configuration, ServerScript(raw: serving), operation)
    }

    // MARK: Observed traffic

    /// The requests whose heads have arrived, in order of arrival.
    public var requests: [Request] { journal.value.requests }

    /// The connections so far, in order of acceptance.
    public var connections: [HTTPTestConnection] { journal.value.connections }

    /// The answers that clients did not wait for.
    public var disconnects: [HTTPTestDisconnect] { journal.value.disconnects }

    /// The descriptions of errors thrown by handlers.
    public var failures: [String] { journal.value.failures }

    /// Waits for at least the given number of requests, including their bodies if `whole` is true.
    ///
    /// - Returns: The requests so far, in the order in which their heads arrived.
    /// - Throws: `CancellationError` if the task is canceled first.
    @discardableResult
    public func waitForRequests(_ count: Int, whole: Bool = true) async throws -> [Request] {
        try await journal.waitForRequests(count, whole: whole)
    }

    /// Waits until at least the given number of answers is complete.
    ///
    /// - Returns: The answered requests, in the order in which their heads arrived.
    /// - Throws: `CancellationError` if the task is canceled first.
    @discardableResult
    public func waitForAnswers(_ count: Int) async throws -> [Request] {
        try await journal.waitForAnswers(count)
    }

    /// Waits until clients have abandoned at least the given number of answers.
    ///
    /// - Returns: The hang-ups so far.
    /// - Throws: `CancellationError` if the task is canceled first.
    @discardableResult
    public func waitForDisconnects(_ count: Int = 1) async throws -> [HTTPTestDisconnect] {
        try await journal.waitForDisconnects(count)
    }

    /// Waits for at least the given number of connections, until they are closed if `closed` is true.
    ///
    /// - Returns: The connections so far, or the closed ones.
    /// - Throws: `CancellationError` if the task is canceled first.
    @discardableResult
    public func waitForConnections(
        _ count: Int,
        closed: Bool = false
    ) async throws -> [HTTPTestConnection] {
        try await journal.waitForConnections(count, closed: closed)
    }

    /// Appends an answer to the queue.
    public func enqueue(_ answer: Answer) {
        script.enqueue(answer)
    }

    /// Closes every connection, as a server does after an idle timeout, and returns when all are closed.
    public func closeConnections() async {
        await script.closeConnections()
    }
}
#else
/// A real server on the loopback interface, for tests; requires the trait `TestServer`.
@available(*, unavailable, message: "Enable the 'TestServer' trait of the keel package.")
public enum FaultServer: Sendable {}
#endif
