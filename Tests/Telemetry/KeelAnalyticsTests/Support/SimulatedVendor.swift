import KeelAnalytics
import KeelTestKit
import KeelTestSupport
import Synchronization

/// A vendor's server that records when each event arrived, to place a crash before or after it.
///
/// It loses replies and requests, answers 5xx, is too small for some batches, and refuses some
/// records in one of two ways.
final class SimulatedVendor: AnalyticsDestination {
    private struct Arrival {
        var id: String
        var number: Int
        var purpose: ConsentPurpose
        var steps: Int
    }

    private struct State {
        var arrivals: [Arrival] = []
        var random: SeededRandom
    }

    let name: String
    let guarantee: DeliveryGuarantee
    let limits = BatchLimits(records: 12, bytes: 20_000)
    private let listsRefused: Bool
    private let isHealthy: Bool
    private let files: SimulatedFileSystem?
    private let state: Mutex<State>

    private init(
        _ name: String,
        _ guarantee: DeliveryGuarantee,
        listsRefused: Bool,
        files: SimulatedFileSystem?,
        seed: UInt64,
        arrivals: [Arrival] = []
    ) {
        self.name = name
        self.guarantee = guarantee
        self.listsRefused = listsRefused
        self.files = files
        isHealthy = files == nil
        state = Mutex(State(arrivals: arrivals, random: SeededRandom(seed: seed)))
    }

    static func everyKind(on files: SimulatedFileSystem, seed: UInt64) -> [SimulatedVendor] {
        [
            SimulatedVendor(
                "lists",
                .effectivelyOnce,
                listsRefused: true,
                files: files,
                seed: seed
            ),
            SimulatedVendor(
                "halves",
                .effectivelyOnce,
                listsRefused: false,
                files: files,
                seed: seed + 1
            ),
            SimulatedVendor("once", .atMostOnce, listsRefused: true, files: files, seed: seed + 2),
        ]
    }

    /// The same server, healthy, with the arrivals before a number of disk steps.
    func secondLife(after steps: Int) -> SimulatedVendor {
        let arrivals = state.withLock { state in
            state.arrivals.filter { arrival in
                // At the same step, a server that counts twice is the harder case.
                guarantee == .effectivelyOnce ? arrival.steps <= steps : arrival.steps < steps
            }
        }
        return SimulatedVendor(
            name,
            guarantee,
            listsRefused: listsRefused,
            files: nil,
            seed: 0,
            arrivals: arrivals
        )
    }

    /// The events that count, in order.
    var numbers: [Int] { state.withLock { $0.arrivals.map(\.number) } }

    /// The number of steps when the first event for a purpose arrived, in the first life.
    func firstSteps(of purpose: ConsentPurpose) -> Int? {
        state.withLock { $0.arrivals.first { $0.purpose == purpose && $0.steps < .max }?.steps }
    }

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        if case .string(let text) = record.properties["text"] { 100 + text.utf8.count } else { 100 }
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        let steps = files?.steps.count ?? .max
        return state.withLock { state in
            let problem = DeliveryProblem("reset")
            let draw = isHealthy ? 9 : Int.random(in: 0..<14, using: &state.random)
            switch draw {
            case 0: return .postponed(DeliveryProblem("unavailable", status: 503), notBefore: nil)
            case 1: return .unknown(problem)
            case 2 where batch.count > 1: return .tooLarge
            case 3: return .misconfigured(DeliveryProblem("unauthorised", status: 401))
            default: break
            }
            let bad = batch.indices.filter { batch[$0].number % 23 == 7 }
            let rejection = AnalyticsRejection("refused", "a bad record")
            if !bad.isEmpty, !listsRefused { return .unacceptable(rejection) }
            for (place, record) in batch.enumerated() where !bad.contains(place) {
                let isKnown = state.arrivals.contains { $0.id == record.id }
                guard !isKnown || guarantee != .effectivelyOnce else { continue }
                state.arrivals.append(
                    Arrival(
                        id: record.id,
                        number: record.number,
                        purpose: record.purpose,
                        steps: steps
                    )
                )
            }
            if draw == 4 { return .unknown(problem) }
            return .settled(rejected: Dictionary(bad.map { ($0, rejection) }) { first, _ in first })
        }
    }
}
