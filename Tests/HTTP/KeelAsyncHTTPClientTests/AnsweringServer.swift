#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelTestKit
import KeelTestServer

/// A server that answers each request with handwritten bytes.
enum AnsweringServer {
    /// The treatment of the connection after an answer.
    enum After: Sendable {
        /// Waits for the next request.
        case keepOpen
        /// Closes the connection normally.
        case close
        /// Resets the connection, as when the peer crashes.
        case reset
        /// Keeps the connection open and silent until the client closes it.
        case stall
    }

    /// Writes bytes to the client; throws if the client has hung up.
    typealias Writer = @Sendable (String) async throws -> Void

    typealias Handler = @Sendable (HTTPTestRequest, Writer) async throws -> After

    /// Runs a server for the duration of `body`.
    ///
    /// `onHangUp` is finished when a client has closed a stalled connection.
    static func run<Value: Sendable>(
        noticing onHangUp: AsyncStream<Void>.Continuation? = nil,
        _ handler: @escaping Handler,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        let serve: @Sendable (RawConnection) async throws -> Void = { connection in
            while let request = try await connection.readRequest() {
                switch try await handler(request, { text in try await connection.write(text) }) {
                case .keepOpen: continue
                case .close: return await connection.close()
                case .reset: return await connection.reset()
                case .stall:
                    await connection.stall()
                    onHangUp?.finish()
                    return
                }
            }
        }
        return try await FaultServer.run(serving: serve) { server in try await body(server.port) }
    }

    /// Runs a server that gives every request the same answer.
    static func run<Value: Sendable>(
        answering bytes: String,
        then after: After,
        while body: @Sendable (_ port: Int) async throws -> Value
    ) async throws -> Value {
        try await run(
            { _, write in
                try await write(bytes)
                return after
            },
            while: body
        )
    }
}
#endif
