import HTTPTypes
import KeelHTTP
import KeelTestKit
import Testing

struct TransportUnderTest: Sendable {
    let transport: any HTTPTransport
    let origin: any HTTPTestOrigin

    func call(
        _ path: String = "/",
        _ method: HTTPRequest.Method = .get,
        _ fields: HTTPFields = [:],
        body: HTTPBody? = nil
    ) -> HTTPCall {
        let head = HTTPRequest(
            method: method,
            scheme: origin.scheme,
            authority: origin.authority,
            path: path,
            headerFields: fields
        )
        return HTTPCall(head, body: body)
    }

    func exchange(_ call: HTTPCall) async throws -> (head: HTTPResponse, body: [UInt8]) {
        let reply = try await transport.send(call)
        return (reply.head, try await reply.body.collect(upTo: 1 << 30))
    }

    func answer(
        _ answer: HTTPTestAnswer,
        to call: HTTPCall? = nil
    ) async throws -> (head: HTTPResponse, body: [UInt8]) {
        origin.enqueue(answer)
        return try await exchange(call ?? self.call())
    }

    /// Returns the error of an exchange, including its body; nil if it succeeds.
    func failure(of call: HTTPCall) async -> TransportError? {
        do throws(TransportError) {
            _ = try await transport.send(call).body.collect(upTo: 1 << 30)
            return nil
        } catch {
            return error
        }
    }

    func request() async throws -> HTTPTestRequest {
        try #require(try await origin.waitForRequests(1, whole: true).first)
    }
}

/// Returns a body that is produced in pieces, and the count of its pieces.
func streamedBody(
    _ pieces: [[UInt8]],
    length: Int64?,
    before: @escaping @Sendable (Int) async throws(TransportError) -> Void = { _ in }
) -> (HTTPBody, Watched<Int>) {
    let produced = Watched(0)
    let body = HTTPBody(length: length, isReplayable: false) { () async throws(TransportError) in
        HTTPByteStream { () async throws(TransportError) in
            let index = produced.value
            guard index < pieces.count else { return nil }
            try await before(index)
            produced.change { $0 += 1 }
            return pieces[index][...]
        }
    }
    return (body, produced)
}
