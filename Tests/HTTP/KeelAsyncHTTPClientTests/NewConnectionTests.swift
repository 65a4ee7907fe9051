#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestServer
import Testing

/// Shortens the default wait for a call's first attempt, and checks that there is one.
private struct ImpatientLayer: HTTPMiddleware {
    func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
        guard call.attempt == 1, call.head.path == "/second" else { return try await next(call) }
        #expect(call.timeouts.firstByte == .seconds(20))
        var call = call
        call.timeouts.firstByte = .milliseconds(200)
        return try await next(call)
    }
}

@Suite("New connections over AsyncHTTPClient", .timeLimit(.minutes(1)))
struct NewConnectionTests {
    private func call(_ server: FaultServer, _ path: String = "/", isNew: Bool = false) -> HTTPCall
    {
        var call = HTTPCall(HTTPRequest("\(server.scheme)://\(server.authority)\(path)"))
        call.options.prefersNewConnection = isNew
        return call
    }

    private func connection(
        _ transport: AsyncHTTPClientTransport,
        _ call: HTTPCall
    ) async throws -> ConnectionInfo {
        let reply = try await transport.send(call)
        _ = try await reply.body.collect(upTo: 1 << 20)
        return try #require(reply.connection)
    }

    private func run<Value: Sendable>(
        overTLS isSecure: Bool,
        answers: [HTTPTestAnswer] = [],
        answering handler: @escaping FaultServer.Handler = { _ in .text("yes") },
        _ work: @Sendable (FaultServer, AsyncHTTPClientTransport) async throws -> Value
    ) async throws -> Value {
        let authority = try TestAuthority()
        var settings = AsyncHTTPClientTransport.Configuration()
        settings.security.trustRoots = try .pem(try authority.certificatePEM.utf8)
        let transport = AsyncHTTPClientTransport(settings)
        return try await FaultServer.run(
            isSecure ? .init(tls: .init(try authority.identity())) : .init(),
            answering: handler
        ) { server in
            for answer in answers { server.enqueue(answer) }
            return try await transport.run { try await work(server, $0) }
        }
    }

    @Test(
        "A new connection is opened on request, and later calls use it",
        arguments: [false, true]
    )
    func getsOne(isSecure: Bool) async throws {
        let seen = try await run(overTLS: isSecure) { server, transport in
            var seen: [ConnectionInfo] = []
            for isNew in [false, false, true, false, true, false] {
                seen.append(try await connection(transport, call(server, isNew: isNew)))
            }
            return seen
        }
        #expect(seen.map(\.isReused) == [false, true, false, true, false, true])
        #expect(seen.map(\.version) == Array(repeating: isSecure ? "HTTP/2" : "HTTP/1.1", count: 6))
    }

    @Test("A new connection is opened however many kept ones there are")
    func passesOverAll() async throws {
        let count = 5
        let answer = HTTPTestAnswer.text("yes").delayed(by: .milliseconds(100))
        let answers = Array(repeating: answer, count: count)
        let info = try await run(overTLS: false, answers: answers) { server, transport in
            try await withThrowingTaskGroup(of: Void.self) { group in
                for _ in 0..<count {
                    group.addTask { _ = try await connection(transport, call(server)) }
                }
                try await group.waitForAll()
            }
            return try await connection(transport, call(server, isNew: true))
        }
        #expect(info.isReused == false)
    }

    @Test("An exchange in progress on the old connection continues to its end")
    func leavesOthersAlone() async throws {
        let size = 2 << 20
        let long = HTTPTestAnswer.bytes([UInt8](repeating: 7, count: size))
        let (count, isReused) = try await run(
            overTLS: true,
            answers: [.text("first"), long]
        ) { server, transport in
            _ = try await connection(transport, call(server))
            // The body is read only after the connection was retired.
            let reply = try await transport.send(call(server, "/long"))
            let other = try await connection(transport, call(server, isNew: true))
            return (try await reply.body.collect(upTo: size).count, other.isReused)
        }
        #expect(count == size)
        #expect(isReused == false)
    }

    @Test(
        "By default, a silently dead connection costs a call one attempt",
        arguments: [false, true]
    )
    func outlivesBlackHoles(isSecure: Bool) async throws {
        let handler: FaultServer.Handler = { request in
            guard request.connection == 0, request.path == "/second" else { return .text("yes") }
            return .text("").interrupted(.beforeHead, by: .stall)
        }
        try await run(overTLS: isSecure, answering: handler) { server, transport in
            var configuration = try NetworkClient.Configuration(
                "\(server.scheme)://\(server.authority)"
            )
            // The client's own timeouts are checked and shortened.
            configuration.clock = FrozenClock()
            configuration.attemptMiddleware = [ImpatientLayer()]
            let client = NetworkClient(configuration, transport: transport)
            _ = try await client.download(from: GetItem(path: "/first"))
            let bytes = try await client.download(from: GetItem(path: "/second"))
            #expect(Array(bytes) == Array("yes".utf8))
            // On a busy machine, the first attempt may end before the server has read its request.
            let connections = server.requests.map(\.connection)
            #expect(connections.count { $0 == 0 } <= 2)
            #expect(connections.filter { $0 != 0 } == [1])
        }
    }
}

/// A clock on which no time passes, and pauses take none.
private struct FrozenClock: Clock {
    struct Instant: InstantProtocol {
        var offset = Duration.zero
        func advanced(by duration: Duration) -> Instant { Instant(offset: offset + duration) }
        func duration(to other: Instant) -> Duration { other.offset - offset }
        static func < (one: Instant, other: Instant) -> Bool { one.offset < other.offset }
    }

    var now: Instant { Instant() }
    var minimumResolution: Duration { .nanoseconds(1) }

    func sleep(until deadline: Instant, tolerance: Duration?) async throws {
        // A pause between attempts ends at once; a deadline is never reached.
        guard deadline.offset > .seconds(10) else { return try Task.checkCancellation() }
        await waitForCancellation()
        throw CancellationError()
    }
}
#endif
