import KeelSync
import KeelTestSupport
import Synchronization

/// A server that honors idempotency keys, and records its deliveries.
final class RecordingServer: OutboxSender {
    /// The fate of a delivery.
    enum Fate: Sendable {
        case taken
        /// The server applies the write, but its reply is lost.
        case replyLost
        case failed(after: Duration?)
        case unreachable
        case refused
        /// The server replies once the gate opens.
        case waits(Gate)
    }

    struct State {
        var applied: [OutboxDelivery] = []
        var deliveries: [OutboxDelivery] = []
        var known: Set<String> = []
        var busyKeys: Set<String> = []
        var overlaps = 0
        var mostAtOnce = 0
    }

    private let state = Mutex(State())
    private let fate: @Sendable (OutboxDelivery) -> Fate

    init(_ fate: @escaping @Sendable (OutboxDelivery) -> Fate = { _ in .taken }) {
        self.fate = fate
    }

    var applied: [OutboxDelivery] { state.withLock { $0.applied } }
    /// All received deliveries, in order, including repetitions.
    var deliveries: [OutboxDelivery] { state.withLock { $0.deliveries } }
    var bodies: [String] { applied.map { String(decoding: $0.write.body, as: UTF8.self) } }
    /// The number of times that two writes of one key were in progress at once.
    var overlaps: Int { state.withLock { $0.overlaps } }
    var mostAtOnce: Int { state.withLock { $0.mostAtOnce } }

    func send(_ delivery: OutboxDelivery) async -> OutboxVerdict {
        let isKnown = state.withLock { state in
            state.deliveries.append(delivery)
            if !state.busyKeys.insert(delivery.write.key).inserted { state.overlaps += 1 }
            state.mostAtOnce = max(state.mostAtOnce, state.busyKeys.count)
            return state.known.contains(delivery.idempotencyKey)
        }
        defer { state.withLock { _ = $0.busyKeys.remove(delivery.write.key) } }
        await Task.yield()
        let fate = fate(delivery)
        if case .waits(let gate) = fate {
            _ = try? await gate.pass()
            if Task.isCancelled { return .failed(reason: "It was cancelled.") }
        }
        switch fate {
        case .taken, .waits: apply(delivery)
        case .replyLost:
            apply(delivery)
            return .failed(reason: "The reply was lost.")
        case .failed(let pause): return .failed(reason: "It is overloaded.", after: pause)
        case .unreachable: return .unreachable(reason: "There is no route.")
        case .refused:
            // A repeated write gets the same reply as before.
            guard isKnown else { return .rejected(reason: "It is not allowed.") }
        }
        return .accepted(reply: Array("ok".utf8))
    }

    private func apply(_ delivery: OutboxDelivery) {
        state.withLock { state in
            guard state.known.insert(delivery.idempotencyKey).inserted else { return }
            state.applied.append(delivery)
        }
    }
}
