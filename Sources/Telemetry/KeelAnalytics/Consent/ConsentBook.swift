internal import Synchronization

/// The decisions in force, as seen by deliveries.
///
/// Written only under the tracker's lock, after the decision is on disk.
final class ConsentBook: Sendable {
    private struct State {
        var consents: [ConsentPurpose: AnalyticsConsent]
        var fallback: AnalyticsConsent
    }

    private let state: Mutex<State>

    init(_ consents: [ConsentPurpose: AnalyticsConsent], fallback: AnalyticsConsent) {
        state = Mutex(State(consents: consents, fallback: fallback))
    }

    subscript(purpose: ConsentPurpose) -> AnalyticsConsent {
        state.withLock { $0.consents[purpose] ?? $0.fallback }
    }

    var all: [ConsentPurpose: AnalyticsConsent] { state.withLock { $0.consents } }

    /// Whether events may be sent for any purpose.
    var allowsAnything: Bool {
        state.withLock { $0.fallback == .granted || $0.consents.values.contains(.granted) }
    }

    func replace(_ consents: [ConsentPurpose: AnalyticsConsent], fallback: AnalyticsConsent) {
        state.withLock { $0 = State(consents: consents, fallback: fallback) }
    }

    func set(_ consent: AnalyticsConsent, for purpose: ConsentPurpose) {
        state.withLock { $0.consents[purpose] = consent }
    }
}
