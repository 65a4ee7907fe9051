internal import HTTPTypes
internal import KeelHTTP
internal import Synchronization

/// A transport that counts the unsent bytes of request bodies, and notes the server's time.
struct SendingTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let clock: ServerClock
    private let bodies = Bodies()

    /// The size up to which a body is not counted.
    private static let smallByteCount: Int64 = 64 << 10

    init(_ upstream: any HTTPTransport, _ clock: ServerClock) {
        self.upstream = upstream
        self.clock = clock
    }

    var unsentByteCount: Int { bodies.left.withLock { $0.values.reduce(0, +) } }

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        guard let body = call.body, let length = body.length, length > Self.smallByteCount
        else { return try await reply(to: call) }
        let (id, count) = (bodies.next.wrappingAdd(1, ordering: .relaxed).newValue, Int(length))
        bodies.left.withLock { $0[id] = count }
        defer { bodies.left.withLock { $0[id] = nil } }
        var call = call
        call.body = HTTPBody(length: length, isReplayable: body.isReplayable) {
            [bodies] () async throws(TransportError) in
            // A body that is sent again starts over.
            bodies.left.withLock { $0[id] = count }
            return try await body.open().mapReads { read async throws(TransportError) in
                let bytes = try await read()
                if let bytes { bodies.pass(bytes.count, of: id) }
                return bytes
            }
        }
        return try await reply(to: call)
    }

    private func reply(to call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let reply = try await upstream.send(call)
        clock.note(reply.head.headerFields[.date])
        return reply
    }

    func shutdown() async { await upstream.shutdown() }

    private final class Bodies: Sendable {
        let next = Atomic(0)
        let left = Mutex<[Int: Int]>([:])

        func pass(_ count: Int, of id: Int) {
            left.withLock { left in
                if let rest = left[id] { left[id] = rest - count }
            }
        }
    }
}
