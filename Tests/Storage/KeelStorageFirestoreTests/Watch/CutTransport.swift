import HTTPTypes
import KeelCore
import KeelHTTP
import Synchronization

/// A transport whose connections can be cut, and that records its requests.
final class CutTransport: HTTPTransport {
    private struct State {
        var isAway = false
        var requests: [String] = []
    }

    private let upstream: any HTTPTransport
    private let state = Mutex(State())
    private let cuts = Signal()

    init(_ upstream: any HTTPTransport) { self.upstream = upstream }

    var features: HTTPTransportFeatures { upstream.features }

    /// The methods, the targets and the forms of the requests.
    var requests: [String] { state.withLock { $0.requests } }

    /// Returns how often a text occurs in the requests.
    func count(of text: String) -> Int {
        requests.map { $0.split(separator: text, omittingEmptySubsequences: false).count - 1 }
            .reduce(0, +)
    }

    /// Cuts all connections; further ones are refused until ``restore()``.
    func cut() {
        state.withLock { $0.isAway = true }
        cuts.raise()
    }

    func restore() { state.withLock { $0.isAway = false } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let generation = cuts.generation
        var text = "\(call.head.method.rawValue) \(call.head.path ?? "")"
        if let bytes = try? await call.body?.open().collect(upTo: 1 << 20) {
            text += " \(String(decoding: bytes, as: UTF8.self))"
        }
        let isAway = state.withLock { state in
            state.requests.append(text)
            return state.isAway
        }
        guard !isAway else { throw TransportError(.connectionRefused) }
        var reply = try await upstream.send(call)
        let cuts = cuts
        reply.body = reply.body.mapReads { read async throws(TransportError) in
            // The reply is dropped, which closes its connection.
            guard cuts.generation == generation else { throw TransportError(.connectionLost) }
            let outcome = await withTaskGroup(
                of: Result<ArraySlice<UInt8>?, TransportError>.self
            ) { group in
                group.addTask {
                    do throws(TransportError) { return .success(try await read()) } catch {
                        return .failure(error)
                    }
                }
                group.addTask {
                    await cuts.wait(since: generation)
                    return .failure(TransportError(.connectionLost))
                }
                defer { group.cancelAll() }
                return await group.next() ?? .success(nil)
            }
            return try outcome.get()
        }
        return reply
    }

    func shutdown() async { await upstream.shutdown() }
}
