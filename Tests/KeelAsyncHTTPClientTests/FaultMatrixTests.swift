#if AsyncHTTPClient
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import NIOCore
import NIOPosix
import Testing

/// One way in which a server, or the way to it, can fail, and the one code that this must give.
struct Fault: Sendable, CustomTestStringConvertible {
    let testDescription: String
    let code: TransportError.Code
    let phase: TransportError.Phase
    let processed: TransportError.Processed
    var answer = ""
    var after = FaultServer.After.close
    var scheme = "http"
    var change: @Sendable (inout HTTPCall) -> Void = { _ in }

    static let all: [Fault] = [
        Fault(
            testDescription: "closes before the head",
            code: .connectionLost,
            phase: .awaitHead,
            processed: .maybe
        ),
        Fault(
            testDescription: "resets before the head",
            code: .connectionLost,
            phase: .awaitHead,
            processed: .maybe,
            after: .reset
        ),
        Fault(
            testDescription: "closes inside the head",
            code: .connectionLost,
            phase: .awaitHead,
            processed: .maybe,
            answer: "HTTP/1.1 200 OK\r\nContent-"
        ),
        Fault(
            testDescription: "stalls before the head",
            code: .responseTimeout,
            phase: .awaitHead,
            processed: .maybe,
            after: .stall,
            change: { $0.timeouts.firstByte = .milliseconds(200) }
        ),
        Fault(
            testDescription: "stalls inside the body",
            code: .responseTimeout,
            phase: .readBody,
            processed: .yes,
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            after: .stall,
            change: { $0.timeouts.idle = .milliseconds(200) }
        ),
        Fault(
            testDescription: "truncates a body of known length",
            code: .truncatedBody,
            phase: .readBody,
            processed: .yes,
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf"
        ),
        Fault(
            testDescription: "truncates a chunked body",
            code: .truncatedBody,
            phase: .readBody,
            processed: .yes,
            answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n4\r\nhalf\r\n"
        ),
        Fault(
            testDescription: "resets inside the body",
            code: .connectionLost,
            phase: .readBody,
            processed: .yes,
            answer: "HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nhalf",
            after: .reset
        ),
        Fault(
            testDescription: "breaks the chunk coding",
            code: .protocolViolation,
            phase: .readBody,
            processed: .yes,
            answer: "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"
        ),
        Fault(
            testDescription: "sends garbage",
            code: .protocolViolation,
            phase: .awaitHead,
            processed: .maybe,
            answer: "\u{1}garbage\r\n\r\n"
        ),
        Fault(
            testDescription: "sends a huge header field",
            code: .protocolViolation,
            phase: .awaitHead,
            processed: .maybe,
            answer: "HTTP/1.1 200 OK\r\nX-Huge: \(String(repeating: "x", count: 200_000))\r\n\r\n"
        ),
        Fault(
            testDescription: "speaks no TLS",
            code: .tlsHandshakeFailed,
            phase: .tls,
            processed: .no,
            answer: "HTTP/1.1 400 Bad Request\r\n\r\n",
            scheme: "https"
        ),
    ]
}

@Suite("AsyncHTTPClientTransport maps each fault to one code")
struct FaultMatrixTests {
    @Test("The server", arguments: Fault.all)
    func faults(_ fault: Fault) async throws {
        let error = try await FaultServer.run(answering: fault.answer, then: fault.after) { port in
            let transport = AsyncHTTPClientTransport()
            var call = HTTPCall(
                HTTPRequest(
                    method: .get,
                    scheme: fault.scheme,
                    authority: "localhost:\(port)",
                    path: "/item?token=s3cret"
                )
            )
            fault.change(&call)
            let error = await failure(of: call, on: transport)
            await transport.shutdown()
            return error
        }
        #expect(error?.code == fault.code, "\(error.map { "\($0)" } ?? "no error")")
        #expect(error?.phase == fault.phase)
        #expect(error?.processed == fault.processed)
        #expect(error?.url?.hasSuffix("/item") == true)
        #expect(error?.description.contains("s3cret") == false)
    }

    @Test("A port where nobody listens is refused at once")
    func refusedPort() async throws {
        let port = try await FaultServer.run(answering: "", then: .close) { $0 }
        let clock = ContinuousClock()
        let start = clock.now
        let error = await failure(of: get("127.0.0.1:\(port)"))
        #expect(error?.code == .connectionRefused)
        #expect(error?.processed == .no)
        // AsyncHTTPClient's own repetition would take the whole connect timeout of 10 s.
        #expect(clock.now - start < .seconds(5))
    }

    @Test("A host name that does not exist is told at once")
    func unknownHost() async throws {
        let error = await failure(of: get("nothing.invalid"))
        // A machine without any name server cannot know that the name does not exist.
        #expect([.hostNotFound, .nameLookupFailed].contains(error?.code))
        #expect(error?.phase == .resolve)
        #expect(error?.processed == .no)
    }

    @Test("A server that accepts and never speaks TLS runs into the connect timeout")
    func silentSecurePeer() async throws {
        let error = try await FaultServer.run(answering: "", then: .stall) { port in
            var settings = AsyncHTTPClientTransport.Configuration()
            settings.connectTimeout = .milliseconds(300)
            let transport = AsyncHTTPClientTransport(settings)
            let error = await failure(of: get("localhost:\(port)", "https"), on: transport)
            await transport.shutdown()
            return error
        }
        #expect(error?.code == .connectTimeout)
    }

    @Test("A call without a host, or with a body of another length, is invalid")
    func invalidRequests() async throws {
        let noHost = await failure(
            of: HTTPCall(HTTPRequest(method: .get, scheme: "http", authority: nil, path: "/"))
        )
        #expect(noHost?.code == .invalidRequest)
        let wrongLength = HTTPBody(length: 9, isReplayable: false) {
            () async throws(TransportError) in .chunks([[1]])
        }
        let error = try await FaultServer.run(answering: answer(), then: .keepOpen) { port in
            var call = get("127.0.0.1:\(port)")
            call.head.method = .post
            call.body = wrongLength
            return await failure(of: call)
        }
        #expect(error?.code == .invalidRequest)
    }

    @Test("A request body that fails is told with its own error as the cause")
    func failingProducer() async throws {
        let error = try await FaultServer.run(answering: answer(), then: .keepOpen) { port in
            var call = get("127.0.0.1:\(port)")
            call.head.method = .post
            call.body = HTTPBody(length: nil, isReplayable: false) {
                () async throws(TransportError) in
                .chunks([[1]], thenThrow: TransportError(.unknown, "The disk is gone."))
            }
            return await failure(of: call)
        }
        #expect(error?.code == .bodyProducerFailed)
        #expect((error?.cause as? TransportError)?.message == "The disk is gone.")
    }

    @Test("After shutdown every call is refused, and shutting down again does nothing")
    func afterShutdown() async throws {
        let transport = AsyncHTTPClientTransport()
        await transport.shutdown()
        await transport.shutdown()
        let error = await failure(of: get("127.0.0.1:1"), on: transport)
        #expect(error?.code == .clientShutdown)
        #expect(error?.processed == .no)
    }

    private func get(_ authority: String, _ scheme: String = "http") -> HTTPCall {
        HTTPCall(HTTPRequest(method: .get, scheme: scheme, authority: authority, path: "/"))
    }

    private func failure(of call: HTTPCall) async -> TransportError? {
        let transport = AsyncHTTPClientTransport()
        let error = await failure(of: call, on: transport)
        await transport.shutdown()
        return error
    }

    private func failure(
        of call: HTTPCall,
        on transport: AsyncHTTPClientTransport
    ) async -> TransportError? {
        do throws(TransportError) {
            _ = try await transport.send(call).body.collect(upTo: 1 << 20)
            return nil
        } catch {
            return error
        }
    }
}
#endif
