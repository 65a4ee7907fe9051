#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// A sequence of states as they change; see ``LocationService/states``.
public struct LocationStates: AsyncSequence, Sendable {
    public typealias Element = LocationState
    public typealias Failure = Never

    let hub: LocationHub

    /// Starts listening.
    public func makeAsyncIterator() -> Iterator { Iterator(hub: hub) }

    /// An iterator that listens while it exists.
    public struct Iterator: AsyncIteratorProtocol {
        // Keeps the monitoring alive while the iterator exists.
        private let hub: LocationHub
        private var base: AsyncStream<LocationState>.Iterator

        fileprivate init(hub: LocationHub) {
            self.hub = hub
            let stream = hub.listen(keepingNewest: 1) { update -> LocationState? in
                if case .state(let state) = update { state } else { nil }
            }
            base = stream.makeAsyncIterator()
        }

        /// Waits for the next state; returns nil if the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> LocationState? {
            await base.next(isolation: actor)
        }
    }
}

@available(*, unavailable)
extension LocationStates.Iterator: Sendable {}

/// The state of the position at a point in time.
public enum LocationState: Sendable, Hashable {
    /// There has been no fix since monitoring began, and no failure.
    case searching
    /// The position is known.
    case fixed(LocationFix)
    /// The last fix is stale, at this age.
    case stale(LocationFix, age: Duration)
    /// There has been no position since this time, for this reason, such as `signalLost`, `disconnected` or
    /// `permissionDenied`.
    case lost(since: Date, because: LocationError.Code)

    /// The fix, stale or not, if there is one.
    public var fix: LocationFix? {
        switch self {
        case .fixed(let fix), .stale(let fix, _): fix
        case .searching, .lost: nil
        }
    }

    /// Whether the position is known and not stale.
    public var isFixed: Bool {
        if case .fixed = self { true } else { false }
    }
}
