#if Crypto && AsyncHTTPClient
import Foundation
import HTTPTypes
import KeelHTTP
import Synchronization

/// Counts from 0.
final class PieceCounter: Sendable {
    private let count = Mutex(0)

    func next() -> Int {
        count.withLock { count in
            defer { count += 1 }
            return count
        }
    }
}

/// How many bytes have been read and not arrived yet, at most.
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

/// Tells the gauge of each part that has arrived.
struct GaugedTransport<Upstream: HTTPTransport>: HTTPTransport {
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

    func shutdown() async {}
}

/// A folder that goes away with its last user.
final class ScratchFolder: Sendable {
    let path: String

    init() throws {
        path =
            FileManager.default.temporaryDirectory
            .appendingPathComponent("keel-s3-\(UUID().uuidString)").path
        try FileManager.default.createDirectory(atPath: path, withIntermediateDirectories: true)
    }

    deinit { try? FileManager.default.removeItem(atPath: path) }

    func names() throws -> [String] { try FileManager.default.contentsOfDirectory(atPath: path) }
}
#endif
