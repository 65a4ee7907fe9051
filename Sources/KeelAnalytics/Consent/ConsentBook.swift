internal import Synchronization

/// The decisions in force, for those who deliver.
///
/// It is written under the tracker's lock only, after the decision is on disk.
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

    /// The decisions that were made.
    var all: [ConsentPurpose: AnalyticsConsent] { state.withLock { $0.consents } }

    /// Whether there may be a purpose for which events leave.
    var allowsAnything: Bool {
        state.withLock { $0.fallback == .granted || $0.consents.values.contains(.granted) }
    }

    func set(_ consent: AnalyticsConsent, for purpose: ConsentPurpose) {
        state.withLock { $0.consents[purpose] = consent }
    }
}
