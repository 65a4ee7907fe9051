#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

enum LocationUpdate: Sendable {
    case state(LocationState)
    /// A fix that is not stale, even if it equals the last state.
    case fix(LocationFix)
    /// Sent in addition to the state, so that waiting for fixes can be given up.
    case failure(LocationError)
}

/// Derives the state of the position from a source's events and the passing time.
///
/// A pure state machine: its times are those of a timeline, while dates are only passed on.
struct LocationTracker: Sendable {
    private let staleAfter: Duration
    private let lostAfter: Duration
    private(set) var state = LocationState.searching
    private(set) var lastFix: LocationFix?
    /// The failure, if it was the source's last event.
    private(set) var failure: LocationError?
    /// The timeline's time of the last fix, while it counts.
    private var fixedAt: Duration?

    /// Creates a tracker in the state ``LocationState/searching``.
    init(staleAfter: Duration, lostAfter: Duration) {
        self.staleAfter = staleAfter
        self.lostAfter = lostAfter
    }

    /// When ``pass(to:date:)`` is due without further events.
    var deadline: Duration? {
        guard let fixedAt else { return nil }
        switch state {
        case .fixed: return fixedAt + staleAfter
        case .stale: return fixedAt + lostAfter
        case .searching, .lost: return nil
        }
    }

    /// The updates for a new listener.
    var greeting: [LocationUpdate] {
        var updates = [LocationUpdate.state(state)]
        if case .fixed(let fix) = state { updates.append(.fix(fix)) }
        if let failure { updates.append(.failure(failure)) }
        return updates
    }

    mutating func take(_ event: LocationEvent, at now: Duration, date: Date) -> [LocationUpdate] {
        switch event {
        case .fix(let fix, let age):
            let age = max(.zero, age)
            lastFix = fix
            failure = nil
            fixedAt = now - age
            guard age < staleAfter else { return change(to: .stale(fix, age: age)) }
            return change(to: .fixed(fix)) + [.fix(fix)]
        case .searching:
            failure = nil
            return lastFix == nil ? change(to: .searching) : lose(.signalLost, date)
        case .failure(let error):
            failure = error
            return lose(error.code, date) + [.failure(error)]
        }
    }

    mutating func pass(to now: Duration, date: Date) -> [LocationUpdate] {
        guard let deadline, now >= deadline, let fixedAt, let fix = lastFix else { return [] }
        let age = now - fixedAt
        return age < lostAfter ? change(to: .stale(fix, age: age)) : lose(.signalLost, date)
    }

    /// Keeps the start of the loss if only the reason changes.
    private mutating func lose(_ code: LocationError.Code, _ date: Date) -> [LocationUpdate] {
        fixedAt = nil
        guard case .lost(let since, _) = state else {
            return change(to: .lost(since: date, because: code))
        }
        return change(to: .lost(since: since, because: code))
    }

    private mutating func change(to state: LocationState) -> [LocationUpdate] {
        guard state != self.state else { return [] }
        self.state = state
        return [.state(state)]
    }
}
