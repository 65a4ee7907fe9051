public import KeelAnalytics
internal import Synchronization

/// A destination that behaves like a vendor's server, with scripted faults.
///
/// ```swift
/// let vendor = ScriptedAnalyticsDestination(faults: [.lostReply, .unavailable()])
/// var configuration = AnalyticsConfiguration()
/// configuration.add(vendor)
/// // …
/// #expect(vendor.received.count == 100)
/// ```
///
/// With `DeliveryGuarantee.effectivelyOnce` records are deduplicated by their ids; otherwise a record that arrives
/// twice is received twice.
public final class ScriptedAnalyticsDestination: AnalyticsDestination {
    private struct State {
        var faults: [AnalyticsFault?]
        var batches: [[AnalyticsRecord]] = []
        var received: [AnalyticsRecord] = []
        var ids: Set<String> = []
        var repeated = 0
        var underWay = 0
        var peak = 0
    }

    public let name: String
    public let guarantee: DeliveryGuarantee
    public let limits: BatchLimits
    private let recordByteCount: Int
    private let clock: any Clock<Duration>
    private let refusal: @Sendable (AnalyticsRecord) -> AnalyticsRejection?
    private let state: Mutex<State>

    /// Creates a destination.
    ///
    /// - Parameters:
    ///   - name: The destination's name.
    ///   - guarantee: The effect of a repeated delivery.
    ///   - limits: The declared limits; larger batches are accepted as well.
    ///   - recordByteCount: The declared size of each record in bytes.
    ///   - clock: The clock that measures delays.
    ///   - faults: The faults of the first deliveries, in order; nil delivers a batch.
    ///   - refusal: Returns the reason to refuse an arriving record; nil accepts it.
    public init(
        _ name: String = "scripted",
        guarantee: DeliveryGuarantee = .effectivelyOnce,
        limits: BatchLimits = BatchLimits(records: 100, bytes: 1 << 20),
        recordByteCount: Int = 100,
        clock: any Clock<Duration> = ContinuousClock(),
        faults: [AnalyticsFault?] = [],
        refusal: @escaping @Sendable (AnalyticsRecord) -> AnalyticsRejection? = { _ in nil }
    ) {
        self.name = name
        self.guarantee = guarantee
        self.limits = limits
        self.recordByteCount = recordByteCount
        self.clock = clock
        self.refusal = refusal
        state = Mutex(State(faults: faults))
    }

    // MARK: Recorded deliveries

    /// The records that arrived and were accepted, in order.
    public var received: [AnalyticsRecord] { state.withLock { $0.received } }

    /// The batches of all deliveries, whatever their outcome.
    public var batches: [[AnalyticsRecord]] { state.withLock { $0.batches } }

    /// The number of deliveries.
    public var callCount: Int { state.withLock { $0.batches.count } }

    package var repeatedCount: Int { state.withLock { $0.repeated } }

    package var peakCount: Int { state.withLock { $0.peak } }

    package func setFaults(_ faults: [AnalyticsFault?]) { state.withLock { $0.faults = faults } }

    // MARK: Destination

    public func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        recordByteCount
    }

    public func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        var fault = state.withLock { state -> AnalyticsFault? in
            state.batches.append(batch)
            state.underWay += 1
            state.peak = max(state.peak, state.underWay)
            return state.faults.isEmpty ? nil : state.faults.removeFirst()
        }
        defer { state.withLock { $0.underWay -= 1 } }
        do {
            fault = try await fault?.delay(on: clock)
        } catch {
            return .unknown(AnalyticsFault.cancellation)
        }
        if let fault, !fault.hasArrived { return fault.outcome }
        let rejected = take(batch)
        return fault?.outcome ?? .settled(rejected: rejected)
    }

    private func take(_ batch: [AnalyticsRecord]) -> [Int: AnalyticsRejection] {
        var rejected: [Int: AnalyticsRejection] = [:]
        for (place, record) in batch.enumerated() {
            if let refusal = refusal(record) {
                rejected[place] = refusal
                continue
            }
            state.withLock { state in
                let isNew = state.ids.insert(record.id).inserted
                if !isNew { state.repeated += 1 }
                if isNew || guarantee != .effectivelyOnce { state.received.append(record) }
            }
        }
        return rejected
    }
}

/// A fault in one delivery to a scripted or fault-injecting destination.
public indirect enum AnalyticsFault: Sendable, Hashable {
    /// The batch arrives, but the reply is lost.
    case lostReply
    /// The batch does not arrive, and the sender cannot tell.
    case lost
    /// The destination is unavailable; `notBefore` is the pause that it asks for.
    case unavailable(notBefore: Duration? = nil)
    /// The batch is too large.
    case tooLarge
    /// The batch is refused without naming the offending record.
    case unacceptable
    /// The destination refuses every batch because its configuration is wrong.
    case misconfigured
    /// The delivery takes this long, then the other fault applies; nil delivers the batch.
    case delay(Duration, then: AnalyticsFault? = nil)

    static let cancellation = DeliveryProblem("the request was canceled")

    var hasArrived: Bool { self == .lostReply }

    var outcome: DeliveryOutcome {
        switch self {
        case .lostReply, .lost: .unknown(DeliveryProblem("the connection was reset"))
        case .unavailable(let pause):
            .postponed(DeliveryProblem("the service is unavailable", status: 503), notBefore: pause)
        case .tooLarge: .tooLarge
        case .unacceptable:
            .unacceptable(AnalyticsRejection("refused", "something in the batch is not accepted"))
        case .misconfigured: .misconfigured(DeliveryProblem("the key is unknown", status: 401))
        case .delay(_, let fault): fault?.outcome ?? .delivered
        }
    }
}

extension AnalyticsFault: DelayingFault {
    var initialDelay: (duration: Duration, rest: AnalyticsFault?)? {
        if case .delay(let duration, let rest) = self { (duration, rest) } else { nil }
    }
}
