import KeelHTTP
import Synchronization

/// The events that a simulation must cover to prove anything.
enum StackEvent: Int, CaseIterable, Sendable {
    case answers, changes, uploads, waitingUploads, cancelled
    case freshHits, revalidatedHits, staleHits, hitsAfterRestart, notModified
    case joined, hedged, retried, redirected, renewals, queued, throttled, circuits
    case decoded, faults, pinRefusals, cookies, signIns, signOuts, restarts, kills

    /// Whether it happens only in one of many lives.
    var isRare: Bool { [.waitingUploads, .circuits, .pinRefusals, .throttled].contains(self) }
}

/// The events of one life, or of many.
struct StackTally: Sendable {
    private var counts = [Int](repeating: 0, count: StackEvent.allCases.count)

    subscript(event: StackEvent) -> Int {
        get { counts[event.rawValue] }
        set { counts[event.rawValue] = newValue }
    }

    mutating func add(_ other: StackTally) {
        for index in counts.indices { counts[index] += other.counts[index] }
    }
}

extension StackTally: CustomStringConvertible {
    var description: String {
        StackEvent.allCases.map { "\($0) \(self[$0])" }.joined(separator: ", ")
    }
}

/// The record of one life: counts, the first broken promise, and a trace.
final class StackLedger: HTTPEventObserver {
    private struct State {
        var tally = StackTally()
        var failure: String?
        var lines: [String] = []
    }

    private let state = Mutex(State())
    private let isTraced: Bool

    init(isTraced: Bool) { self.isTraced = isTraced }

    var tally: StackTally { state.withLock { $0.tally } }
    var failure: String? { state.withLock { $0.failure } }
    var lines: [String] { state.withLock { $0.lines } }

    func count(_ event: StackEvent) { state.withLock { $0.tally[event] += 1 } }

    func fail(_ text: String) { state.withLock { $0.failure = $0.failure ?? text } }

    func trace(_ line: @autoclosure () -> String) {
        guard isTraced else { return }
        let line = line()
        state.withLock { $0.lines.append(line) }
    }

    func observe(_ event: HTTPEvent) {
        switch event.kind {
        case .joined: count(.joined)
        case .hedged: count(.hedged)
        case .retrying: count(.retried)
        case .redirected: count(.redirected)
        case .queued(true): count(.queued)
        case .circuit: count(.circuits)
        default: break
        }
        trace("  \(event.call) \(event.attempt) \(Self.name(of: event.kind))")
    }

    private static func name(of kind: HTTPEvent.Kind) -> String {
        switch kind {
        case .cached(let how): "cached, \(how)"
        case .joined(let call): "joined \(call)"
        case .queued(let waits): "queued \(waits)"
        case .circuit(let state): "circuit \(state)"
        case .retrying(let pause, let reason): "retrying after \(pause), \(reason)"
        case .failed(let error), .attemptFailed(let error): "failed, \(error.code)"
        default: String("\(kind)".prefix { $0 != "(" })
        }
    }
}
