import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

private struct Send: Endpoint {
    typealias Response = EmptyResponse
    var method: HTTPRequest.Method
    var body: RequestBody?
    var timeout: Duration?
    var path: EndpointPath { "/photos" }
}

/// A transport that takes as long for a body as a 1 Mbit/s line, and then as long as the server.
private struct SlowLine: HTTPTransportDouble {
    let clock: TestClock
    var answer = Duration.seconds(5)

    let features: HTTPTransportFeatures = [.streamingUpload]

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let bytes = try await call.body?.open().collect(upTo: .max).count ?? 0
        let time = Duration.seconds(bytes) / 125_000 + answer
        let limit = call.timeouts.firstByte ?? .seconds(1 << 30)
        do {
            try await clock.sleep(for: min(time, limit))
        } catch { throw TransportError(.cancelled) }
        guard time <= limit else { throw TransportError(.responseTimeout) }
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}

@Suite("Bodies in memory on a slow connection", .timeLimit(.minutes(1)))
struct SlowLineTests: RetrySuite {
    let clock = TestClock()

    /// Sends a body over the line and advances the clock by the time that takes.
    private func outcome(
        _ endpoint: Send,
        bytes: Int,
        answer: Duration = .seconds(5)
    ) async throws -> Result<NetworkResponse, TransportError> {
        // A separate clock, so that no other task sleeps on it.
        let clock = TestClock()
        let line = SlowLine(clock: clock, answer: answer)
        let client = try client(line) {
            $0.clock = clock
            $0.timeout = .seconds(60)
        }
        let result = Task { await client.response(to: endpoint) }
        // The sleeps of the line and of the limit.
        await clock.advance(by: .seconds(bytes) / 125_000 + answer + .seconds(1), onceAsleep: 2)
        return await result.value
    }

    @Test(
        "A body arrives, whatever its size and method",
        arguments: [1000, 5 << 20, 10 << 20, 30 << 20],
        [HTTPRequest.Method.post, .put]
    )
    func arrives(bytes: Int, method: HTTPRequest.Method) async throws {
        let body = RequestBody.bytes([UInt8](repeating: 1, count: bytes))
        let result = try await outcome(Send(method: method, body: body), bytes: bytes)
        #expect(try result.get().status == .ok)
    }

    @Test("A form with several parts in memory also arrives")
    func forms() async throws {
        let size = 5 << 20
        let parts = (0..<3).map { number in
            MultipartForm.Part.bytes("part\(number)", [UInt8](repeating: 1, count: size))
        }
        let send = Send(method: .post, body: .multipart(MultipartForm(parts)))
        #expect(try await outcome(send, bytes: 3 * size + 4096).get().status == .ok)
    }

    @Test("The default timeout is added to the time for the body; an explicit one is unchanged")
    func keepsLimits() async throws {
        // 80 s on the line; the limit is 60 s plus 156 s for the body.
        let bytes = 10_000_000 + 240_000
        let body = RequestBody.bytes([UInt8](repeating: 1, count: bytes))
        let rows: [(timeout: Duration?, answer: Int, arrives: Bool)] = [
            (nil, 130, true), (nil, 138, false), (.seconds(60), 5, false), (.seconds(90), 5, true),
        ]
        for row in rows {
            let send = Send(method: .post, body: body, timeout: row.timeout)
            let result = try await outcome(send, bytes: bytes, answer: .seconds(row.answer))
            switch result {
            case .success: #expect(row.arrives)
            case .failure(let error):
                #expect(!row.arrives)
                #expect(error.code == .deadlineExceeded)
            }
        }
    }
}
