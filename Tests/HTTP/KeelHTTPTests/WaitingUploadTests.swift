import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import KeelTestSupport
import Testing

private struct AddPhoto: Endpoint {
    typealias Response = EmptyResponse
    var path: EndpointPath { "/photos" }
}

/// A transport that opens a body only when a gate opens, like a pool whose connections are all busy.
private struct BusyTransport: HTTPTransportDouble {
    let gate: Gate

    let features: HTTPTransportFeatures = [.streamingUpload]

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        do { try await gate.pass() } catch { throw TransportError(.cancelled) }
        _ = try await call.body?.open().collect(upTo: .max)
        return HTTPReply(head: HTTPResponse(status: .ok))
    }
}

@Suite("Waiting uploads", .timeLimit(.minutes(1)))
struct WaitingUploadTests {
    private let clock = TestClock()

    private func client(
        _ transport: any HTTPTransport,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.clock = clock
        configuration.retry = .never
        change(&configuration)
        return NetworkClient(configuration, transport: transport)
    }

    @Test("An upload that waits for its slot beyond the stall timeout is still sent")
    func waitsForPlaces() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1, 2, 3])
        let gates = (0..<4).map { _ in Gate() }
        let count = Counter()
        let transport = ScriptedHTTPTransport(
            then: .init { _ async throws(TransportError) in
                _ = try? await gates[count.next() - 1].pass()
                return HTTPReply(head: HTTPResponse(status: .ok))
            }
        )
        let client = try client(transport) {
            $0.attemptMiddleware = [ConcurrencyLimitMiddleware(1)]
        }
        let uploads = (0..<4).map { _ in
            Task { _ = try await client.upload(.file(file), to: AddPhoto()) }
        }
        // Each holds its place for a little less than the limit; the last waits for almost three limits.
        for gate in gates {
            try await waitUntil { gate.begunCount == 1 }
            await clock.advance(by: .seconds(50))
            gate.open()
        }
        for upload in uploads { try await upload.value }
        #expect(transport.calls.count == 4)
    }

    @Test("Waiting for a connection does not count toward the stall timeout")
    func waitsForConnections() async throws {
        let folder = try TemporaryFolder()
        let file = try folder.file("a", [1, 2, 3])
        let gate = Gate()
        let client = try client(BusyTransport(gate: gate))
        let upload = Task { _ = try await client.upload(.file(file), to: AddPhoto()) }
        try await waitUntil { gate.begunCount == 1 }
        await clock.advance(by: .seconds(200))
        gate.open()
        try await upload.value
    }
}
