internal import KeelCore
internal import Synchronization

/// An adapter that plays a track on a clock, for tests and previews.
///
/// ```swift
/// let adapter = ScriptedLocationAdapter(.fixes([harbour, island], every: .seconds(5)))
/// let location = LocationService(adapter)
/// ```
///
/// Each monitoring plays the track from its beginning. A test can report in between with
/// ``send(_:)``, and decide what the user answers.
public final class ScriptedLocationAdapter: LocationAdapter {
    private struct State {
        var permission: LocationPermission
        var answer: LocationPermission
        var askedCount = 0
        var monitorCount = 0
        var monitors: [Int: Monitoring] = [:]
    }

    private let track: LocationTrack
    private let clock: any Clock<Duration>
    private let state: Mutex<State>
    private let changes = Signal()

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - track: What each monitoring reports.
    ///   - permission: What was decided at the beginning.
    ///   - answer: What the user decides when asked, where nothing was decided.
    ///   - clock: What the pauses of the track are measured on.
    public init(
        _ track: LocationTrack = LocationTrack(),
        permission: LocationPermission = .notRequired,
        answering answer: LocationPermission = .whenInUse,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.track = track
        self.clock = clock
        state = Mutex(State(permission: permission, answer: answer))
    }

    deinit {
        for monitoring in state.withLock({ $0.monitors.values }) { monitoring.end() }
    }

    // MARK: For tests

    /// How many monitor it now.
    public var monitorCount: Int { state.withLock { $0.monitors.count } }

    /// How often it was begun to be monitored.
    public var monitoringCount: Int { state.withLock { $0.monitorCount } }

    /// How often the user was asked.
    public var askedCount: Int { state.withLock { $0.askedCount } }

    /// Reports to everybody who monitors now.
    ///
    /// - Parameter event: What is reported; nothing but a refusal where the permission is missing.
    public func send(_ event: LocationEvent) {
        let (refusal, monitors) = state.withLock { state in
            (state.permission.refusal, state.monitors.sorted { $0.key < $1.key }.map(\.value))
        }
        for monitor in monitors { monitor.send(refusal.map { .failure($0) } ?? event) }
    }

    /// Changes the permission, as the user can at any time; a refusal is reported.
    ///
    /// - Parameter permission: What holds from now on.
    public func setPermission(_ permission: LocationPermission) {
        state.withLock { $0.permission = permission }
        announce()
    }

    /// Tells of a decision; who was refused before begins with the track.
    private func announce() {
        send(.searching)
        let (isGranted, monitors) = state.withLock { state in
            (state.permission.isGranted, Array(state.monitors.values))
        }
        guard isGranted else { return }
        for monitor in monitors { monitor.play(track, on: clock) }
    }

    /// Waits until so many monitor it, or the task is cancelled.
    ///
    /// - Parameter count: How many.
    public func waitForMonitors(_ count: Int = 1) async {
        while !Task.isCancelled {
            let generation = changes.generation
            guard monitorCount != count else { return }
            await changes.wait(since: generation)
        }
    }

    // MARK: Adapter

    public func capabilities() async -> LocationCapabilities {
        let permission = await permission()
        return LocationCapabilities(
            kind: .scripted,
            features: permission == .notRequired ? [] : [.asksPermission, .asksForAlways],
            problem: permission.refusal?.code
        )
    }

    public func permission() async -> LocationPermission { state.withLock { $0.permission } }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        let (permission, wasAsked) = state.withLock { state in
            let isOpen = state.permission == .notDetermined
            if isOpen {
                state.askedCount += 1
                state.permission = state.answer
            }
            return (state.permission, isOpen)
        }
        if wasAsked { announce() }
        return permission
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let monitoring = Monitoring(report)
        let (id, refusal) = state.withLock { state in
            state.monitorCount += 1
            state.monitors[state.monitorCount] = monitoring
            return (state.monitorCount, state.permission.refusal)
        }
        changes.raise()
        if let refusal {
            monitoring.send(.failure(refusal))
        } else {
            monitoring.send(.searching)
            monitoring.play(track, on: clock)
        }
        return { [weak self] in
            monitoring.end()
            guard let self else { return }
            _ = state.withLock { $0.monitors.removeValue(forKey: id) }
            changes.raise()
        }
    }
}

/// One monitoring of a scripted adapter.
private final class Monitoring: Sendable {
    private struct State {
        var waiting: [LocationEvent] = []
        var isReporting = false
        var isOver = false
        var task: Task<Void, Never>?
    }

    private let state = Mutex(State())
    private let report: @Sendable (LocationEvent) -> Void

    init(_ report: @escaping @Sendable (LocationEvent) -> Void) { self.report = report }

    /// Plays the track, once for all calls.
    func play(_ track: LocationTrack, on clock: any Clock<Duration>) {
        guard !track.steps.isEmpty else { return }
        state.withLock { state in
            guard !state.isOver, state.task == nil else { return }
            state.task = Task { [self] in await run(track, on: clock) }
        }
    }

    private func run(_ track: LocationTrack, on clock: any Clock<Duration>) async {
        repeat {
            for step in track.steps {
                if step.pause > .zero {
                    guard (try? await clock.sleep(for: step.pause)) != nil else { return }
                }
                guard !Task.isCancelled else { return }
                send(step.event)
            }
        } while track.isEndless
    }

    /// Reports, one after the other: who comes meanwhile leaves the event to who reports already.
    func send(_ event: LocationEvent) {
        let isFree = state.withLock { state in
            guard !state.isOver else { return false }
            state.waiting.append(event)
            defer { state.isReporting = true }
            return !state.isReporting
        }
        guard isFree else { return }
        while let next = next() { report(next) }
    }

    private func next() -> LocationEvent? {
        state.withLock { state in
            guard !state.isOver, !state.waiting.isEmpty else {
                state.isReporting = false
                return nil
            }
            return state.waiting.removeFirst()
        }
    }

    func end() {
        let task = state.withLock { state in
            state.isOver = true
            state.waiting = []
            return state.task.take()
        }
        task?.cancel()
    }
}
