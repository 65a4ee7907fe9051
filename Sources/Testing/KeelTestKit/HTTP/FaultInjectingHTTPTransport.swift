public import KeelHTTP
internal import Synchronization

/// A transport whose exchanges fail on demand.
///
/// ```swift
/// let offline = transport.failing { _ in .fail(.offline) }
/// let flaky = transport.failing([.loseReply(), nil, .delay(.seconds(2))])
/// ```
///
/// Copies share the call count and the position in the list.
public struct FaultInjectingHTTPTransport<Upstream: HTTPTransport>: HTTPTransport {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<HTTPCall, HTTPFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    public var features: HTTPTransportFeatures { upstream.features }

    public func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let fault = try await schedule.begin(call) { _ in
            TransportError(.cancelled, processed: .no)
        }
        if case .failure(let error) = fault { throw error }
        var reply = try await upstream.send(call)
        switch fault {
        case .lostReply(let error):
            throw error
        case .brokenBody(let count, let error):
            reply.body = Self.broken(reply.body, after: count, error)
        default: break
        }
        return reply
    }

    public func shutdown() async { await upstream.shutdown() }

    private static func broken(
        _ body: HTTPByteStream,
        after count: Int,
        _ error: TransportError
    ) -> HTTPByteStream {
        // The number of bytes that may still pass; nil once the body has failed.
        let left = Mutex<Int?>(count)
        return body.mapReads { read async throws(TransportError) in
            guard let room = left.withLock({ $0 }) else { return nil }
            guard room > 0, let piece = try await read() else {
                left.withLock { $0 = nil }
                throw error
            }
            let given = piece.prefix(room)
            left.withLock { $0 = room - given.count }
            return given
        }
    }
}

extension FaultInjectingHTTPTransport: LayeringTransport where Upstream: LayeringTransport {
    package var clientLayers: [any HTTPMiddleware] { upstream.clientLayers }
}

extension HTTPTransport {
    /// Makes exchanges fail as a closure says; see ``FaultInjectingHTTPTransport``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (HTTPCall) -> HTTPFault?
    ) -> FaultInjectingHTTPTransport<Self> {
        FaultInjectingHTTPTransport(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first exchanges fail as a list says; see ``FaultInjectingHTTPTransport``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ faults: [HTTPFault?]
    ) -> FaultInjectingHTTPTransport<Self> {
        FaultInjectingHTTPTransport(upstream: self, schedule: CallFaults(clock, faults: faults))
    }
}
