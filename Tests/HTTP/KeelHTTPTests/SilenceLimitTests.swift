import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// A transport that records its calls.
private final class Witness: HTTPTransportDouble {
    private let state = Mutex<(calls: [HTTPCall], answers: [TransportError?])>(([], []))

    let features: HTTPTransportFeatures = [.streamingUpload]

    var calls: [HTTPCall] { state.withLock { $0.calls } }

    init(_ answers: [TransportError?] = []) { state.withLock { $0.answers = answers.reversed() } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let error = state.withLock { state in
            state.calls.append(call)
            return state.answers.popLast() ?? nil
        }
        if let error { throw error }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}

private struct Operation: ServiceEndpoint {
    var method = HTTPRequest.Method.get
    var body: RequestBody?
    var timeout: Duration?
    var path: EndpointPath { "/a" }
}

@Suite("Default limits on server silence")
struct SilenceLimitTests {
    private func client(
        _ transport: Witness,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        // The clock stands still, so the total time never passes; failures are retried immediately.
        configuration.clock = TestClock()
        configuration.retry.jitter = { 0 }
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    @Test("A call that may be retried leaves time for it; other calls have no silence limit")
    func limits() async throws {
        let megabyte = RequestBody.bytes([UInt8](repeating: 1, count: 1 << 20))
        let cases: [(operation: Operation, firstByte: Int?, idle: Int?)] = [
            (Operation(), 20, 20),
            (Operation(timeout: .seconds(120)), 40, 40),
            (Operation(timeout: .seconds(9)), 10, 10),
            (Operation(method: .put, body: .bytes([1])), 20, 20),
            (Operation(method: .put, body: megabyte), 36, 20),
            (Operation(method: .post, body: .bytes([1])), nil, nil),
        ]
        for (operation, firstByte, idle) in cases {
            let transport = Witness()
            _ = try await client(transport).response(to: operation).get()
            let timeouts = try #require(transport.calls.first).timeouts
            #expect(timeouts.firstByte == firstByte.map { .seconds($0) })
            #expect(timeouts.idle == idle.map { .seconds($0) })
        }
    }

    @Test("Explicit limits are kept, and a client without retries has no default limit")
    func ownLimits() async throws {
        let transport = Witness([TransportError(.responseTimeout)])
        let own = HTTPTimeouts(firstByte: .seconds(3), idle: .seconds(4))
        _ = try await client(transport) { $0.timeouts = own }.response(to: Operation()).get()
        #expect(transport.calls.map(\.timeouts) == [own, own])

        let single = Witness()
        _ = try await client(single) { $0.retry = .never }.response(to: Operation()).get()
        #expect(single.calls.map(\.timeouts) == [HTTPTimeouts()])

        let stream = Witness()
        _ = try await client(stream).stream(Operation())
        let timeouts = stream.calls.map(\.timeouts)
        #expect(timeouts == [HTTPTimeouts(firstByte: .seconds(20), idle: .seconds(60))])

        let events = Witness()
        _ = try? await client(events).events(Operation())
        #expect(events.calls.map(\.timeouts.idle) == [.seconds(60)])
    }

    @Test("The attempt after a silence uses a new connection and the remaining time")
    func afterSilence() async throws {
        let transport = Witness([TransportError(.connectionLost), TransportError(.responseTimeout)])
        _ = try await client(transport).response(to: Operation()).get()
        let calls = transport.calls
        #expect(calls.map { $0.timeouts.firstByte } == [.seconds(20), .seconds(20), nil])
        #expect(calls.map(\.options.prefersNewConnection) == [false, false, true])
    }

    @Test("A call whose exchange is shared leaves time for another attempt as well")
    func shared() async throws {
        let transport = Witness([TransportError(.responseTimeout)])
        let client = try client(transport) { $0.middleware = [CoalescingMiddleware()] }
        _ = try await client.response(to: Operation()).get()
        #expect(transport.calls.map(\.timeouts.firstByte) == [.seconds(20), nil])
        #expect(transport.calls.map(\.options.prefersNewConnection) == [false, true])
    }

    @Test("An event stream opens a new connection after a silence, not after a regular end")
    func eventStreams() async throws {
        let number = Counter()
        let seen = Mutex<[HTTPCall]>([])
        let transport = EventTransport { call in
            seen.withLock { $0.append(call) }
            return number.next() == 2 ? nil : TransportError(.responseTimeout)
        }
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.clock = ImmediateClock()
        configuration.timeout = nil
        let client = NetworkClient(configuration, transport: transport)
        var opened = 0
        for try await update in client.eventStream(Operation()).updates {
            if case .open = update { opened += 1 }
            if opened == 3 { break }
        }
        let calls = seen.withLock { $0 }
        #expect(calls.map(\.options.prefersNewConnection) == [false, true, false])
        #expect(calls.map(\.timeouts.idle) == Array(repeating: .seconds(60), count: 3))
    }

    /// A transport whose event streams end immediately, or with an error.
    private struct EventTransport: HTTPTransportDouble {
        let end: @Sendable (HTTPCall) -> TransportError?

        func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
            HTTPReply(
                head: HTTPResponse(status: .ok, headerFields: [.contentType: "text/event-stream"]),
                body: .chunks([], thenThrow: end(call))
            )
        }
    }
}
