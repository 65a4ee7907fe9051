internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A monitoring of an adapter, shared by all listeners of a service and its copies.
///
/// One thread at a time calls the adapter, outside of the lock: an adapter may report before `monitor` returns, and its
/// observers may call the service.
final class LocationHub: Sendable {
    private struct State {
        var tracker: LocationTracker?
        /// Distinguishes this monitoring's reports from late ones of an earlier monitoring.
        var generation = 0
        var isHeld = false
        var nextListener = 0
        var listeners: [Int: @Sendable (LocationUpdate) -> Void] = [:]
        var lastFix: LocationFix?
        var sleeper: Task<Void, Never>?
        var sleepsUntil: Duration?
    }

    private struct Observation {
        var end: (@Sendable () -> Void)?
        /// Whether a thread is starting or ending the monitoring, and whether it must check again.
        var isBusy = false
        var isToLookAgain = false
    }

    let adapter: any LocationAdapter
    let timer: DeadlineTimer
    private let configuration: LocationService.Configuration
    private let timeline: Timeline
    private let observation = Mutex(Observation())
    private let state = Mutex(State())

    init(_ adapter: any LocationAdapter, _ configuration: LocationService.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
        timeline = Timeline(configuration.clock)
        timer = DeadlineTimer.on(configuration.clock)
    }

    deinit {
        state.withLock { $0.sleeper.take() }?.cancel()
        observation.withLock { $0.end.take() }?()
    }

    /// The current state; nil while not monitored.
    var current: LocationState? { state.withLock { $0.tracker?.state } }

    var lastFix: LocationFix? { state.withLock { $0.lastFix } }

    func hold(_ isHeld: Bool) {
        state.withLock { $0.isHeld = isHeld }
        match()
    }

    /// Listens until the stream is released; nil drops an update.
    func listen<Element: Sendable>(
        keepingNewest limit: Int,
        _ element: @escaping @Sendable (LocationUpdate) -> Element?
    ) -> AsyncStream<Element> {
        let (stream, continuation) = AsyncStream.makeStream(
            of: Element.self,
            bufferingPolicy: .bufferingNewest(limit)
        )
        let id = state.withLock { state in
            state.nextListener += 1
            let tell: @Sendable (LocationUpdate) -> Void = { update in
                if let element = element(update) { continuation.yield(element) }
            }
            state.listeners[state.nextListener] = tell
            for update in state.tracker?.greeting ?? [] { tell(update) }
            return state.nextListener
        }
        continuation.onTermination = { [weak self] _ in
            guard let self else { return }
            // Outside of the lock: this may release the last reference to a stream.
            _ = state.withLock { $0.listeners.removeValue(forKey: id) }
            match()
        }
        match()
        return stream
    }

    // MARK: Starting and ending

    private func match() {
        let isFree = observation.withLock { observation in
            observation.isToLookAgain = observation.isBusy
            defer { observation.isBusy = true }
            return !observation.isBusy
        }
        guard isFree else { return }
        repeat {
            beginOrEnd()
        } while observation.withLock { observation in
            observation.isBusy = observation.isToLookAgain
            defer { observation.isToLookAgain = false }
            return observation.isToLookAgain
        }
    }

    private func beginOrEnd() {
        let isWanted = state.withLock { $0.isHeld || !$0.listeners.isEmpty }
        let isMonitored = observation.withLock { $0.end != nil }
        if isWanted, !isMonitored {
            let generation = begin()
            let request = LocationRequest(desiredAccuracy: configuration.desiredAccuracy)
            let end = adapter.monitor(request) { [weak self] event in
                self?.take(event, generation)
            }
            observation.withLock { $0.end = end }
        } else if !isWanted, let end = observation.withLock({ $0.end.take() }) {
            finish()
            end()
        }
    }

    private func begin() -> Int {
        state.withLock { state in
            let tracker = LocationTracker(
                staleAfter: configuration.staleAfter,
                lostAfter: configuration.lostAfter
            )
            state.generation += 1
            state.tracker = tracker
            Self.tell(tracker.greeting, to: state)
            return state.generation
        }
    }

    private func finish() {
        let sleeper = state.withLock { state in
            state.generation += 1
            state.tracker = nil
            state.sleepsUntil = nil
            return state.sleeper.take()
        }
        sleeper?.cancel()
    }

    // MARK: Events

    private func take(_ event: LocationEvent, _ generation: Int) {
        change(generation) { tracker, now, date in tracker.take(event, at: now, date: date) }
    }

    private func change(
        _ generation: Int,
        _ body: (inout LocationTracker, Duration, Date) -> [LocationUpdate]
    ) {
        let now = timeline.now
        let date = configuration.now()
        let idle = state.withLock { state -> Task<Void, Never>? in
            guard generation == state.generation, var tracker = state.tracker else { return nil }
            let updates = body(&tracker, now, date)
            state.tracker = tracker
            state.lastFix = tracker.lastFix ?? state.lastFix
            // Inside the lock, so that updates reach listeners in order.
            Self.tell(updates, to: state)
            return arm(&state)
        }
        idle?.cancel()
    }

    private static func tell(_ updates: [LocationUpdate], to state: State) {
        for update in updates {
            for listener in state.listeners.values { listener(update) }
        }
    }

    /// Ensures that a task sleeps exactly while a fix may become stale, and returns the task that is no longer needed.
    private func arm(_ state: inout State) -> Task<Void, Never>? {
        guard let deadline = state.tracker?.deadline else {
            state.sleepsUntil = nil
            return state.sleeper.take()
        }
        if let until = state.sleepsUntil, until <= deadline { return nil }
        let replaced = state.sleeper.take()
        state.sleepsUntil = deadline
        state.sleeper = Task { [weak self, timeline, generation = state.generation] in
            guard (try? await timeline.sleep(until: deadline)) != nil else { return }
            self?.wake(generation, at: deadline)
        }
        return replaced
    }

    private func wake(_ generation: Int, at deadline: Duration) {
        state.withLock { state in
            // Ignores a task that was replaced.
            guard generation == state.generation, state.sleepsUntil == deadline else { return }
            state.sleeper = nil
            state.sleepsUntil = nil
        }
        change(generation) { tracker, now, date in
            // On waking, the deadline counts as reached, whatever the clock shows.
            tracker.pass(to: max(now, deadline), date: date)
        }
    }
}
