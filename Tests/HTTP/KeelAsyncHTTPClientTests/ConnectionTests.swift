#if AsyncHTTPClient && TestServer
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Connection details of AsyncHTTPClientTransport")
struct ConnectionTests {
    @Test("An exchange reports whether its connection is reused")
    func reuse() async throws {
        let connections = try await AnsweringServer.run(answering: answer(), then: .keepOpen) {
            port in
            try await AsyncHTTPClientTransport().run { transport in
                var connections: [ConnectionInfo?] = []
                for _ in 0..<3 {
                    let reply = try await transport.send(get(port))
                    _ = try await reply.body.collect(upTo: 1 << 20)
                    connections.append(reply.connection)
                }
                return connections
            }
        }
        #expect(connections.map { $0?.isReused } == [false, true, true])
        #expect(Set(connections.map { $0?.id }).count == 1)
        #expect(connections.allSatisfy { $0?.version == "HTTP/1.1" })
        #expect(connections.allSatisfy { $0?.remoteAddress?.contains("127.0.0.1") == true })
    }

    @Test("The number of the exchange is not sent to the server")
    func keepsNumberToItself() async throws {
        let fields = Mutex<[String]>([])
        try await AnsweringServer.run { request, write in
            fields.withLock { $0 += request.fields.map(\.name) }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await AsyncHTTPClientTransport().run { transport in
                let reply = try await transport.send(get(port))
                _ = try await reply.body.collect(upTo: 1 << 20)
            }
        }
        let names = fields.withLock { $0 }.map { $0.lowercased() }
        #expect(names.contains("host"))
        #expect(!names.contains { $0.contains("keel") })
    }

    @Test(
        "A reused connection that the server closes without a response is stale",
        arguments: [AnsweringServer.After.close, .reset]
    )
    func stale(_ end: AnsweringServer.After) async throws {
        let count = Counter()
        let errors = try await AnsweringServer.run { _, write in
            guard count.next() == 1 else { return end }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await AsyncHTTPClientTransport().run { transport in
                let first = try await transport.send(get(port))
                _ = try await first.body.collect(upTo: 1 << 20)
                let second = await transport.failure(of: get(port))
                let third = await transport.failure(of: get(port))
                return [second, third]
            }
        }
        let stale = try #require(errors[0])
        #expect(stale.code == .staleConnection)
        #expect(stale.reusedConnection == true)
        #expect(stale.processed == .maybe)
        #expect(try #require(stale.bytesSent) > 0)
        // On a new connection, the same end does not mean a stale one.
        let lost = try #require(errors[1])
        #expect(lost.code == .connectionLost)
        #expect(lost.reusedConnection == false)
    }

    @Test("A failed body reports how many bytes arrived")
    func bytesReceived() async throws {
        let error = try await AnsweringServer.run(
            answering: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            then: .close
        ) { port in
            try await AsyncHTTPClientTransport().run { await $0.failure(of: get(port)) }
        }
        #expect(error?.code == .truncatedBody)
        #expect(error?.bytesReceived == 4)
        #expect(error?.reusedConnection == false)
        #expect(error?.callID != nil)
    }

    @Test("A call that waits too long for a busy connection reports a pool timeout")
    func poolTimeout() async throws {
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let error = try await AnsweringServer.run { _, _ in
            signal.finish()
            return .stall
        } while: { port in
            var settings = AsyncHTTPClientTransport.Configuration()
            settings.connectionsPerHost = 1
            settings.poolTimeout = .milliseconds(100)
            return try await AsyncHTTPClientTransport(settings).run { transport in
                let first = Task { await transport.failure(of: get(port)) }
                for await _ in reached {}
                let second = await transport.failure(of: get(port))
                first.cancel()
                _ = await first.value
                return second
            }
        }
        #expect(error?.code == .poolTimeout)
        #expect(error?.phase == .pool)
        #expect(error?.processed == .no)
    }

    @Test("Trailers are available at the end of the body")
    func trailers() async throws {
        let text =
            "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\nTrailer: X-Sum\r\n\r\n"
            + "4\r\nbody\r\n0\r\nX-Sum: 42\r\n\r\n"
        let sum = try await AnsweringServer.run(answering: text, then: .keepOpen) { port in
            try await AsyncHTTPClientTransport().run { transport in
                let reply = try await transport.send(get(port))
                _ = try await reply.body.collect(upTo: 1 << 20)
                return reply.body.trailers?[values: try #require(.init("X-Sum"))]
            }
        }
        #expect(sum == ["42"])
    }

    @Test("An observed call reports its events in order")
    func moments() async throws {
        let observer = MomentList()
        try await AnsweringServer.run(answering: answer(), then: .keepOpen) { port in
            try await withClient(
                "http://127.0.0.1:\(port)",
                { $0.observers = [observer] }
            ) { client in
                _ = try await client.request(GetItem(method: .post, body: .bytes([1, 2, 3])))
            }
        }
        #expect(
            observer.names == [
                "started", "sending", "connected", "sentHead", "sentBody 3", "received 200",
                "receivedBody 14", "succeeded 200",
            ]
        )
    }
}

/// Records the names of moments.
final class MomentList: HTTPEventObserver {
    private let list = Mutex<[String]>([])

    var names: [String] { list.withLock { $0 } }

    func observe(_ event: HTTPEvent) {
        let name: String
        switch event.kind {
        case .started: name = "started"
        case .sending: name = "sending"
        case .connected: name = "connected"
        case .sentHead: name = "sentHead"
        case .sentBody(let bytes): name = "sentBody \(bytes)"
        case .received(let head, _): name = "received \(head.status.code)"
        case .receivedBody(let bytes): name = "receivedBody \(bytes)"
        case .succeeded(let status): name = "succeeded \(status)"
        default: name = "other"
        }
        list.withLock { $0.append(name) }
    }
}

private func get(_ port: Int) -> HTTPCall {
    HTTPCall(HTTPRequest(method: .get, scheme: "http", authority: "127.0.0.1:\(port)", path: "/"))
}
#endif
