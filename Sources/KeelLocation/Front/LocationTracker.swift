#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// What listeners of a source are told.
enum LocationUpdate: Sendable {
    case state(LocationState)
    /// A fix that is not stale; one that equals the last state is told too.
    case fix(LocationFix)
    /// Not in place of a state: whoever waits for fixes learns by it that waiting is no use.
    case failure(LocationError)
}

/// What is known about the position, by the events of a source and the time that passes.
///
/// A pure state machine: the time comes in as how much of it has passed on a timeline, beside the
/// time of day, which is shown and never compared.
struct LocationTracker: Sendable {
    private let staleAfter: Duration
    private let lostAfter: Duration
    private(set) var state = LocationState.searching
    private(set) var lastFix: LocationFix?
    /// What the source said last, if that was a failure.
    private(set) var failure: LocationError?
    /// When the last fix was true, while it counts.
    private var fixedAt: Duration?

    /// Creates a tracker of a source that has just begun to search.
    init(staleAfter: Duration, lostAfter: Duration) {
        self.staleAfter = staleAfter
        self.lostAfter = lostAfter
    }

    /// When ``pass(to:date:)`` has something to say, if the source stays silent.
    var deadline: Duration? {
        guard let fixedAt else { return nil }
        switch state {
        case .fixed: return fixedAt + staleAfter
        case .stale: return fixedAt + lostAfter
        case .searching, .lost: return nil
        }
    }

    /// What somebody is told who begins to listen now.
    var greeting: [LocationUpdate] {
        var updates = [LocationUpdate.state(state)]
        if case .fixed(let fix) = state { updates.append(.fix(fix)) }
        if let failure { updates.append(.failure(failure)) }
        return updates
    }

    /// Takes an event of the source.
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

    /// Lets time pass.
    mutating func pass(to now: Duration, date: Date) -> [LocationUpdate] {
        guard let deadline, now >= deadline, let fixedAt, let fix = lastFix else { return [] }
        let age = now - fixedAt
        return age < lostAfter ? change(to: .stale(fix, age: age)) : lose(.signalLost, date)
    }

    /// Keeps the time since when there is no position, also where the reason changes.
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
