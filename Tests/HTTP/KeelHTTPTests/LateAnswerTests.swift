import HTTPTypes
import KeelCore
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Responses at the deadline", .timeLimit(.minutes(1)))
struct LateAnswerTests: RetrySuite {
    let clock = TestClock()

    /// A response that is in transit when the call is canceled, and arrives all the same.
    private static func late(_ body: HTTPByteStream, length: Int?) -> ScriptedHTTPTransport.Answer {
        ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            await waitForCancellation()
            var head = HTTPResponse(status: .created)
            if let length { head.headerFields[.contentLength] = "\(length)" }
            return HTTPReply(head: head, body: body)
        }
    }

    /// Makes a call whose total time ends while it waits for its response.
    private func call(
        _ answer: ScriptedHTTPTransport.Answer,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) async throws -> (Result<NetworkResponse, TransportError>, requests: Int) {
        let transport = ScriptedHTTPTransport(then: answer)
        let client = try client(transport) {
            $0.timeout = .seconds(5)
            change(&$0)
        }
        let result = Task { await client.response(to: Post()) }
        try await waitUntil { transport.calls.count == 1 }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        return (await result.value, transport.calls.count)
    }

    @Test("A POST response that arrives at the deadline is returned", arguments: [2, nil])
    func keepsAnswers(length: Int?) async throws {
        // A body in memory is known to be complete; for others the announced length decides.
        let bodies =
            [HTTPByteStream.collected([1, 2])] + (length == nil ? [] : [.chunks([[1, 2]])])
        for body in bodies {
            let (result, requests) = try await call(Self.late(body, length: length))
            let response = try result.get()
            #expect(response.status == .created)
            #expect(response.body == [1, 2])
            #expect(requests == 1)
        }
    }

    @Test("A response that arrives at the attempt limit is kept, and the call is not repeated")
    func keepsAttempts() async throws {
        let (result, requests) = try await call(Self.late(.collected([1]), length: 1)) {
            $0.timeout = nil
            $0.timeouts.attempt = .seconds(5)
        }
        #expect(try result.get().body == [1])
        #expect(requests == 1)
    }

    @Test("A body that ends because of cancellation is not taken as complete")
    func distrustsEnds() async throws {
        // For example a sequence based on an AsyncStream.
        let body = HTTPByteStream { () async throws(TransportError) in nil }
        for length in [2, nil] {
            let (result, _) = try await call(Self.late(body, length: length))
            let error = try #require(result.failure)
            #expect(error.code == .deadlineExceeded)
        }
    }

    @Test("A stream that begins at the deadline is abandoned")
    func refusesLateStreams() async throws {
        let transport = ScriptedHTTPTransport(then: Self.late(.chunks([[1, 2]]), length: 2))
        let client = try client(transport) { $0.timeout = .seconds(5) }
        let stream = Task { try await client.stream(Post()).body.collect(upTo: 10) }
        try await waitUntil { transport.calls.count == 1 }
        await clock.advance(by: .seconds(5), onceAsleep: 1)
        let error = await #expect(throws: NetworkError.self) { try await stream.value }
        #expect(error?.transportError?.code == .deadlineExceeded)
    }

    @Test("A failure after the deadline is reported as deadlineExceeded, and nothing new starts")
    func replacesFailures() async throws {
        let (result, _) = try await call(
            .init { _ async throws(TransportError) in
                await waitForCancellation()
                throw TransportError(.connectionLost)
            }
        )
        #expect(throws: TransportError.self) { try result.get() }
        if case .failure(let error) = result { #expect(error.code == .deadlineExceeded) }

        let deadline = Deadline(in: .seconds(1), on: clock)
        await clock.advance(by: .seconds(1))
        await expectError(TransportError.self, .deadlineExceeded) {
            try await deadline.run(throwing: TransportError(.deadlineExceeded)) {
                () async throws(TransportError) in
                Issue.record("Something began after the deadline.")
            }
        }
    }
}
