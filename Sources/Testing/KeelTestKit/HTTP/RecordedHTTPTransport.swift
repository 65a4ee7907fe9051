public import HTTPTypes
public import KeelHTTP
internal import Synchronization

/// A transport that records its calls and forwards them.
///
/// ```swift
/// let recorded = transport.recorded()
/// try await NetworkClient(baseURL: address, transport: recorded).delete("/notes/1")
/// #expect(recorded.heads.map(\.method) == [.delete])
/// ```
///
/// A call is recorded first, whatever the outcome; the bytes of a streamed body are added while they are sent. Copies
/// share one record.
public struct RecordedHTTPTransport<Upstream: HTTPTransport>: HTTPTransport {
    private final class Memory: Sendable {
        let calls = Mutex<[ScriptedHTTPTransport.Call]>([])
    }

    fileprivate let upstream: Upstream
    private let memory = Memory()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [ScriptedHTTPTransport.Call] { memory.calls.withLock { $0 } }

    /// The heads of all calls, in order.
    public var heads: [HTTPRequest] { calls.map(\.head) }

    /// The number of calls.
    public var callCount: Int { memory.calls.withLock { $0.count } }

    /// Returns the number of calls with a method.
    public func callCount(of method: HTTPRequest.Method) -> Int {
        memory.calls.withLock { calls in calls.count { $0.head.method == method } }
    }

    /// The most recent call.
    public var lastCall: ScriptedHTTPTransport.Call? { memory.calls.withLock { $0.last } }

    /// Discards the recorded calls.
    ///
    /// Do not call it during an exchange.
    public func forget() { memory.calls.withLock { $0 = [] } }

    // MARK: Transport

    public var features: HTTPTransportFeatures { upstream.features }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let seen = ScriptedHTTPTransport.Call(
            head: call.head,
            body: call.body?.bytes ?? [],
            timeouts: call.timeouts
        )
        let position = memory.calls.withLock { calls in
            calls.append(seen)
            return calls.count - 1
        }
        guard let body = call.body, body.bytes == nil else { return try await upstream.send(call) }
        var watched = call
        let memory = memory
        watched.body = HTTPBody(length: body.length, isReplayable: body.isReplayable) {
            () async throws(TransportError) in
            memory.calls.withLock { $0[position].body = [] }
            return try await body.open().mapReads { read async throws(TransportError) in
                let piece = try await read()
                if let piece { memory.calls.withLock { $0[position].body += piece } }
                return piece
            }
        }
        return try await upstream.send(watched)
    }

    public func shutdown() async { await upstream.shutdown() }
}

extension RecordedHTTPTransport: LayeringTransport where Upstream: LayeringTransport {
    package var clientLayers: [any HTTPMiddleware] { upstream.clientLayers }
}

extension HTTPTransport {
    /// Records the calls; see ``RecordedHTTPTransport``.
    public func recorded() -> RecordedHTTPTransport<Self> { RecordedHTTPTransport(upstream: self) }
}
