#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelHTTP
import KeelTestKit
import Synchronization

/// A counter that starts at 0.
final class PieceCounter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}

/// The maximum number of bytes that were read but had not arrived yet.
final class Gauge: Sendable {
    private struct State {
        var now = 0
        var most = 0
    }

    private let state = Mutex(State())

    var most: Int { state.withLock { $0.most } }

    func read(_ count: Int) {
        state.withLock { state in
            state.now += count
            state.most = max(state.most, state.now)
        }
    }

    func arrived(_ count: Int) { state.withLock { $0.now -= count } }
}

/// A transport that reports each arrived part to the gauge.
struct GaugedTransport<Upstream: HTTPTransport>: HTTPTransportDouble {
    let upstream: Upstream
    let gauge: Gauge

    var features: HTTPTransportFeatures { upstream.features }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let reply = try await upstream.send(call)
        if call.head.path?.contains("partNumber=") == true {
            gauge.arrived(Int(call.body?.length ?? 0))
        }
        return reply
    }
}
#endif
