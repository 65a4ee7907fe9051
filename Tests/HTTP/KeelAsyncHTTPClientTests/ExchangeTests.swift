#if AsyncHTTPClient && TestServer
import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("NetworkClient over AsyncHTTPClient and real sockets")
struct ExchangeTests {
    @Test("A JSON response is decoded, and the connection serves the next call")
    func getsJSON() async throws {
        let seen = Mutex<[String]>([])
        try await AnsweringServer.run { request, write in
            seen.withLock { $0.append(request.line) }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)/v1") { client in
                let first = try await client.request(GetItem())
                #expect(first == Item(name: "Ada"))
                let second: Item = try await client.get("/a%2Fb/\("x/y")")
                #expect(second == Item(name: "Ada"))
            }
        }
        #expect(seen.withLock { $0 } == ["GET /v1/item HTTP/1.1", "GET /v1/a%2Fb/x%2Fy HTTP/1.1"])
    }

    @Test(
        "Statuses reach the caller",
        arguments: [
            ("200 OK", NetworkError.Code?.none), ("201 Created", nil),
            ("204 No Content", .noData), ("302 Found", .transport),
            ("401 Unauthorized", .unauthorized),
            ("404 Not Found", .notFound), ("429 Too Many Requests", .unavailable),
            ("500 Internal Server Error", .unavailable), ("418 I'm a teapot", .status),
        ]
    )
    func statuses(status: String, code: NetworkError.Code?) async throws {
        let bytes = status.hasPrefix("204") ? "HTTP/1.1 204 No Content\r\n\r\n" : answer(status)
        let error = try await AnsweringServer.run(answering: bytes, then: .keepOpen) { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                do throws(NetworkError) {
                    _ = try await client.request(GetItem())
                    return NetworkError?.none
                } catch { return error }
            }
        }
        #expect(error?.code == code)
    }

    @Test("Body, header fields and method arrive as sent", arguments: [true, false])
    func sendsBodies(isStreamed: Bool) async throws {
        let pieces: [[UInt8]] = [Array("first ".utf8), Array("second".utf8)]
        let body =
            isStreamed
            ? RequestBody.stream(
                HTTPBody(length: nil, isReplayable: false) { () async throws(TransportError) in
                    .chunks(pieces)
                },
                contentType: "text/plain"
            )
            : RequestBody.bytes(pieces.joined(), contentType: "text/plain")
        let requests = Mutex<[HTTPTestRequest]>([])
        try await AnsweringServer.run { request, write in
            requests.withLock { $0.append(request) }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                _ = try await client.request(GetItem(method: .put, body: body))
            }
        }
        let request = try #require(requests.withLock { $0.first })
        #expect(request.line == "PUT /item HTTP/1.1")
        #expect(request["content-type"] == "text/plain")
        #expect(request["transfer-encoding"] == (isStreamed ? "chunked" : nil))
        #expect(request["content-length"] == (isStreamed ? nil : "12"))
        #expect(request.text == "first second")
    }

    @Test("A redirect loop is detected")
    func redirectLoop() async throws {
        let error = try await AnsweringServer.run { request, write in
            let next = request.path == "/item" ? "/other" : "/item"
            try await write(answer("302 Found", fields: "Location: \(next)\r\n"))
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                await client.response(to: GetItem())
            }
        }
        guard case .failure(let error) = error else { return fail("The loop ended.") }
        #expect(error.code == .redirectLoop)
    }

    @Test(
        "The total time ends a stalled call, even within its body",
        arguments: ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"],
        // Larger bodies are streamed.
        [10, 1 << 20]
    )
    func totalTime(bytes: String, bodySize: Int) async throws {
        let (reached, reachedSignal) = AsyncStream.makeStream(of: Void.self)
        let (hungUp, hungUpSignal) = AsyncStream.makeStream(of: Void.self)
        let clock = TestClock()
        let result = try await AnsweringServer.run(noticing: hungUpSignal) {
            _,
            write in
            try await write(bytes)
            reachedSignal.finish()
            return .stall
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)", { $0.clock = clock }) { client in
                let call = GetItem(
                    method: .put,
                    body: .bytes([UInt8](repeating: 7, count: bodySize)),
                    timeout: .milliseconds(200)
                )
                async let answer = client.response(to: call)
                // The time expires only once the exchange is in progress, however slow the machine.
                for await _ in reached {}
                await clock.advance(by: .milliseconds(200), onceAsleep: 1)
                let result = await answer
                // The exchange was canceled rather than abandoned: the server notices.
                for await _ in hungUp {}
                return result
            }
        }
        #expect(throws: TransportError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.code == .deadlineExceeded) }
    }

    @Test("Nothing is sent after the deadline")
    func lateCall() async throws {
        let count = Mutex(0)
        let result = try await AnsweringServer.run { _, write in
            count.withLock { $0 += 1 }
            try await write(answer())
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                await client.response(to: GetItem(timeout: .zero))
            }
        }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .deadlineExceeded)
        #expect(count.withLock { $0 } == 0)
    }

    /// Passes calls on only when it is canceled.
    private struct Stalling: HTTPMiddleware {
        let reached: AsyncStream<Void>.Continuation

        func intercept(_ call: HTTPCall, next: HTTPNext) async throws(TransportError) -> HTTPReply {
            reached.finish()
            await waitForCancellation()
            return try await next(call)
        }
    }

    @Test("The total time ends a call held up by a layer of the app")
    func totalTimeOfLayers() async throws {
        let (reached, reachedSignal) = AsyncStream.makeStream(of: Void.self)
        let clock = TestClock()
        let change: @Sendable (inout NetworkClient.Configuration) -> Void = {
            $0.clock = clock
            $0.attemptMiddleware = [Stalling(reached: reachedSignal)]
        }
        let result = try await withClient("http://127.0.0.1:9", change) { client in
            async let answer = client.response(to: GetItem(timeout: .milliseconds(200)))
            for await _ in reached {}
            await clock.advance(by: .milliseconds(200), onceAsleep: 1)
            return await answer
        }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .deadlineExceeded)
    }

    /// Reports that a call pauses before its next attempt.
    private struct PauseObserver: HTTPEventObserver {
        let paused: AsyncStream<Void>.Continuation

        func observe(_ event: HTTPEvent) {
            if case .retrying = event.kind { paused.finish() }
        }
    }

    @Test("The total time ends the current attempt, and no other follows")
    func totalTimeOfAttempts() async throws {
        let (paused, pausedSignal) = AsyncStream.makeStream(of: Void.self)
        let (stalling, stallingSignal) = AsyncStream.makeStream(of: Void.self)
        let count = Counter()
        let clock = TestClock()
        let change: @Sendable (inout NetworkClient.Configuration) -> Void = {
            $0.clock = clock
            $0.retry = .standard
            $0.observers = [PauseObserver(paused: pausedSignal)]
        }
        let result = try await AnsweringServer.run { _, write in
            guard count.next() > 1 else {
                try await write(answer("503 Service Unavailable", fields: "Retry-After: 1\r\n"))
                return .keepOpen
            }
            stallingSignal.finish()
            return .stall
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)", change) { client in
                async let answer = client.response(to: GetItem(timeout: .seconds(20)))
                for await _ in paused {}
                await clock.advance(by: .seconds(1), onceAsleep: 1)
                for await _ in stalling {}
                await clock.advance(by: .seconds(19), onceAsleep: 1)
                return await answer
            }
        }
        let error = #expect(throws: TransportError.self) { try result.get() }
        #expect(error?.code == .deadlineExceeded)
        #expect(error?.attempts.count == 2)
        #expect(count.count == 2)
    }

    @Test("Canceling the caller ends the exchange, before the head and within the body")
    func cancellation() async throws {
        for bytes in ["", "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"] {
            let (reached, reachedSignal) = AsyncStream.makeStream(of: Void.self)
            let (hungUp, hungUpSignal) = AsyncStream.makeStream(of: Void.self)
            let result = try await AnsweringServer.run(noticing: hungUpSignal) {
                _,
                write in
                try await write(bytes)
                reachedSignal.finish()
                return .stall
            } while: { port in
                try await withClient("http://127.0.0.1:\(port)") { client in
                    let task = Task { await client.response(to: GetItem()) }
                    for await _ in reached {}
                    task.cancel()
                    let result = await task.value
                    for await _ in hungUp {}
                    return result
                }
            }
            let error = try #require(result.failure)
            #expect(error.code == .cancelled)
        }
    }

    @Test("Dropping a body unread cancels the exchange")
    func droppedBody() async throws {
        let (hungUp, continuation) = AsyncStream.makeStream(of: Void.self)
        let status = try await AnsweringServer.run(noticing: continuation) {
            _,
            write in
            try await write("HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf")
            return .stall
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                let status = try await client.stream(GetItem()).head.status
                for await _ in hungUp {}
                return status
            }
        }
        #expect(status == .ok)
    }

    @Test("A stream delivers chunks as they arrive")
    func streamsPieces() async throws {
        let (read, signal) = AsyncStream.makeStream(of: Void.self)
        let lines = try await AnsweringServer.run { _, write in
            try await write("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\none\n\r\n")
            // The second piece waits until the client has read the first.
            for await _ in read {}
            try await write("4\r\ntwo\n\r\n0\r\n\r\n")
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                var lines: [String] = []
                for try await line in try await client.stream(GetItem()).body.lines() {
                    lines.append(line)
                    signal.finish()
                }
                return lines
            }
        }
        #expect(lines == ["one", "two"])
    }

    @Test("Server-sent events arrive one by one")
    func serverSentEvents() async throws {
        let events = try await AnsweringServer.run { _, write in
            try await write("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n")
            for part in ["id: 1\nda", "ta: on", "e\n\n: ping\n\nevent: end\ndata: two\r\n\r\n"] {
                try await write(part)
            }
            return .close
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                var events: [ServerSentEvent] = []
                for try await event in try await client.events(GetItem()) { events.append(event) }
                return events
            }
        }
        #expect(
            events == [
                ServerSentEvent(data: "one", lastEventID: "1"),
                ServerSentEvent(type: "end", data: "two", lastEventID: "1"),
            ]
        )
    }

    @Test("A slow reader slows the server down and loses nothing")
    func backPressure() async throws {
        let size = 8 << 20
        let piece = String(repeating: "x", count: 1 << 16)
        let sent = Mutex(0)
        let (sentAll, continuation) = AsyncStream.makeStream(of: Void.self)
        let total = try await AnsweringServer.run { _, write in
            try await write("HTTP/1.1 200 OK\r\nContent-Length: \(size)\r\n\r\n")
            for _ in 0..<(size / piece.utf8.count) {
                try await write(piece)
                sent.withLock { $0 += piece.utf8.count }
            }
            continuation.finish()
            return .keepOpen
        } while: { port in
            try await withClient("http://127.0.0.1:\(port)") { client in
                let reply = try await client.stream(GetItem())
                var total = 0
                for try await chunk in reply.body { total += chunk.count }
                for await _ in sentAll {}
                return total
            }
        }
        #expect(total == size)
        #expect(sent.withLock { $0 } == size)
    }

    @Test("Shutting down ends calls in progress with clientShutdown")
    func shutdownDuringCall() async throws {
        let (reached, signal) = AsyncStream.makeStream(of: Void.self)
        let error = try await AnsweringServer.run { _, _ in
            signal.finish()
            return .stall
        } while: { port in
            let transport = AsyncHTTPClientTransport()
            let call = HTTPCall(HTTPRequest("http://127.0.0.1:\(port)/"))
            async let result: TransportError? = {
                do throws(TransportError) {
                    _ = try await transport.send(call)
                    return nil
                } catch { return error }
            }()
            for await _ in reached {}
            await transport.shutdown()
            return await result
        }
        #expect(error?.code == .clientShutdown)
    }
}
#endif
