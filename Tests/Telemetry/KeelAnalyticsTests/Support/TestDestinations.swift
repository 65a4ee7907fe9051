import KeelAnalytics
import Synchronization

/// A destination that refuses whole batches that contain a bad record.
final class PoisonedDestination: AnalyticsDestination {
    enum Answer { case refused, tooLarge, beforehand }

    let name: String
    let guarantee = DeliveryGuarantee.effectivelyOnce
    let limits = BatchLimits(records: 500, bytes: 1 << 20)
    private let poison: Set<Int>
    private let answer: Answer
    private let most: Int
    private let state = Mutex((calls: 0, arrived: [Int]()))

    init(name: String, poison: Set<Int>, answer: Answer, most: Int = .max) {
        self.name = name
        self.poison = poison
        self.answer = answer
        self.most = most
    }

    var arrived: [Int] { state.withLock { $0.arrived } }
    var callCount: Int { state.withLock { $0.calls } }

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        if answer == .beforehand, poison.contains(record.number) {
            throw AnalyticsRejection("invalidName", "the name is not allowed")
        }
        return 100
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        state.withLock { state in
            state.calls += 1
            if batch.count > most { return .tooLarge }
            if batch.contains(where: { poison.contains($0.number) }) {
                let rejection = AnalyticsRejection("refused", "somewhere in the batch")
                return answer == .tooLarge ? .tooLarge : .unacceptable(rejection)
            }
            state.arrived += batch.map(\.number)
            return .delivered
        }
    }
}

/// The arrivals, each with the number of disk steps.
final class Steps: Sendable {
    private let state = Mutex([(number: Int, steps: Int)]())

    func add(_ numbers: [Int], _ steps: Int) {
        state.withLock { $0 += numbers.map { ($0, steps) } }
    }

    func numbers(before steps: Int) -> [Int] {
        state.withLock { $0.filter { $0.steps < steps }.map(\.number) }
    }
}

final class Lines: Sendable {
    private let lines = Mutex([String]())
    var all: [String] { lines.withLock { $0 } }
    func add(_ line: String) { lines.withLock { $0.append(line) } }
}
