#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelTestKit
import KeelTestServer

/// A server that answers each request with the bytes that a test writes by hand.
enum AnsweringServer {
    /// What becomes of the connection after an answer.
    enum After: Sendable {
        /// It waits for the next request.
        case keepOpen
        /// It is closed in order.
        case close
        /// It is reset, as by a crash of the peer.
        case reset
        /// It stays open without a word until the client closes it.
        case stall
    }

    /// Writes bytes to the client; throws if the client has hung up.
    typealias Writer = @Sendable (String) async throws -> Void

    /// Answers one request.
    typealias Handler = @Sendable (HTTPTestRequest, Writer) async throws -> After

    /// Runs a server for as long as `body` runs.
    ///
    /// `onHangUp` is finished when a client has closed a connection that stalled.
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

    /// Answers every request with the same bytes, then does the same thing.
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
