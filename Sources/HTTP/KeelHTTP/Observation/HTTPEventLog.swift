public import KeelCore
import Synchronization

/// The latest events of a client's calls, for an inspector, a bug report or a test.
///
/// ```swift
/// let log = HTTPEventLog()
/// configuration.observers.append(log)
/// for summary in log.summaries { print(summary) }
/// ```
///
/// The log drops the oldest events first.
public final class HTTPEventLog: HTTPEventObserver {
    private struct State {
        /// A ring buffer once it is full; the oldest event is at `start`.
        var events: [HTTPEvent] = []
        var start = 0
        var dropped = 0
    }

    private let capacity: Int
    private let redactor: Redactor?
    private let state = Mutex(State())

    /// Creates an empty log of at most `capacity` events, and at least 1.
    ///
    /// `redactor` redacts each event, see ``HTTPEvent/redacted(by:)``; use nil only in tests.
    public init(capacity: Int = 2_000, redactor: Redactor? = .standard) {
        self.capacity = max(capacity, 1)
        self.redactor = redactor
    }

    /// The events, oldest first.
    public var events: [HTTPEvent] {
        state.withLock { Array($0.events[$0.start...] + $0.events[..<$0.start]) }
    }

    /// The number of events dropped in favor of newer ones.
    public var droppedCount: Int { state.withLock { $0.dropped } }

    /// Returns the events of one call, oldest first.
    public func events(of call: HTTPCallID) -> [HTTPEvent] { events.filter { $0.call == call } }

    /// The course of each call, in the order in which the calls began.
    ///
    /// Calls whose first event has been dropped are omitted.
    public var summaries: [HTTPCallSummary] {
        var order: [HTTPCallID] = []
        var summaries: [HTTPCallID: HTTPCallSummary] = [:]
        for event in events {
            if summaries[event.call] != nil {
                summaries[event.call]?.add(event)
            } else if let summary = HTTPCallSummary(event) {
                order.append(event.call)
                summaries[event.call] = summary
            }
        }
        return order.compactMap { summaries[$0] }
    }

    /// Removes all events.
    public func clear() { state.withLock { $0 = State() } }

    public func observe(_ event: HTTPEvent) {
        let event = redactor.map { event.redacted(by: $0) } ?? event
        state.withLock { state in
            guard state.events.count == capacity else {
                state.events.append(event)
                return
            }
            state.events[state.start] = event
            state.start = (state.start + 1) % capacity
            state.dropped += 1
        }
    }
}

extension HTTPEvent {
    /// Returns this event with the secrets in its head, or in the target of a redirect or an error, redacted.
    ///
    /// The targets of the HTTP errors that caused an error are redacted, too; a ``NetworkError`` among them loses its
    /// response and its decoded body.
    public func redacted(by redactor: Redactor) -> HTTPEvent {
        var event = self
        switch kind {
        case .started(let head): event.kind = .started(redactor.redact(head))
        case .sending(let head): event.kind = .sending(redactor.redact(head))
        case .received(let head, let connection):
            event.kind = .received(redactor.redact(head), connection)
        case .redirected(let url, let status):
            event.kind = .redirected(to: redactor.redactURL(url), status: status)
        case .attemptFailed(let error): event.kind = .attemptFailed(redactor.redact(error))
        case .failed(let error): event.kind = .failed(redactor.redact(error))
        default: break
        }
        return event
    }
}
