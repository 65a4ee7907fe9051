internal import Synchronization

/// The decisions in force, as seen by deliveries.
///
/// Written only under the tracker's lock; a decision that allows more is on disk before.
final class ConsentBook: Sendable {
    private struct State {
        var consents: [ConsentPurpose: AnalyticsConsent]
        var fallback: AnalyticsConsent
        /// How many decisions have withdrawn consent, by purpose.
        var withdrawals: [ConsentPurpose: Int] = [:]
    }

    private let state: Mutex<State>

    init(_ consents: [ConsentPurpose: AnalyticsConsent], fallback: AnalyticsConsent) {
        state = Mutex(State(consents: consents, fallback: fallback))
    }

    subscript(purpose: ConsentPurpose) -> AnalyticsConsent {
        state.withLock { $0.consents[purpose] ?? $0.fallback }
    }

    var all: [ConsentPurpose: AnalyticsConsent] { state.withLock { $0.consents } }

    var allowsAnything: Bool {
        state.withLock { $0.fallback == .granted || $0.consents.values.contains(.granted) }
    }

    /// Returns how many decisions have withdrawn consent, by purpose.
    func withdrawals(of purposes: Set<ConsentPurpose>) -> [ConsentPurpose: Int] {
        state.withLock { state in
            Dictionary(uniqueKeysWithValues: purposes.map { ($0, state.withdrawals[$0] ?? 0) })
        }
    }

    /// Whether events may be sent for these purposes, and no decision has withdrawn that since they were counted.
    func areGranted(since withdrawals: [ConsentPurpose: Int]) -> Bool {
        state.withLock { state in
            withdrawals.allSatisfy { purpose, count in
                (state.consents[purpose] ?? state.fallback) == .granted
                    && state.withdrawals[purpose] ?? 0 == count
            }
        }
    }

    func replace(_ consents: [ConsentPurpose: AnalyticsConsent], fallback: AnalyticsConsent) {
        state.withLock { ($0.consents, $0.fallback) = (consents, fallback) }
    }

    func set(_ consent: AnalyticsConsent, for purpose: ConsentPurpose) {
        state.withLock { state in
            state.consents[purpose] = consent
            if consent != .granted { state.withdrawals[purpose, default: 0] += 1 }
        }
    }
}
