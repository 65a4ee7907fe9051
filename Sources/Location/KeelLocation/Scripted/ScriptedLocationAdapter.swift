internal import KeelCore
internal import Synchronization

/// An adapter that plays a track on a clock, for tests and previews.
///
/// ```swift
/// let adapter = ScriptedLocationAdapter(.fixes([harbour, island], every: .seconds(5)))
/// let location = LocationService(adapter)
/// ```
///
/// Each monitoring plays the track from its beginning.
public final class ScriptedLocationAdapter: LocationAdapter {
    private struct State {
        var permission: LocationPermission
        var failure: LocationError?
        var permissionRequestCount = 0
        var totalMonitorCount = 0
        var monitors: [Int: ScriptedMonitoring] = [:]

        var obstacle: LocationError? { permission.refusal ?? failure }
    }

    private let answer: LocationPermission
    private let track: LocationTrack
    private let clock: any Clock<Duration>
    private let state: Mutex<State>
    private let changes = Signal()

    /// Creates an adapter.
    ///
    /// - Parameters:
    ///   - track: The track that each monitoring plays.
    ///   - permission: The initial permission.
    ///   - answer: The user's decision when asked, if the permission is not determined.
    ///   - clock: The clock for the track's delays.
    public init(
        _ track: LocationTrack = LocationTrack(),
        permission: LocationPermission = .notRequired,
        answering answer: LocationPermission = .whenInUse,
        clock: any Clock<Duration> = ContinuousClock()
    ) {
        self.track = track
        self.clock = clock
        self.answer = answer
        state = Mutex(State(permission: permission))
    }

    deinit {
        for monitoring in state.withLock({ $0.monitors.values }) { monitoring.end() }
    }

    // MARK: For tests

    /// The current number of monitorings.
    public var monitorCount: Int { state.withLock { $0.monitors.count } }

    /// The total number of monitorings so far.
    public var totalMonitorCount: Int { state.withLock { $0.totalMonitorCount } }

    /// The number of times the user was asked.
    public var permissionRequestCount: Int { state.withLock { $0.permissionRequestCount } }

    /// Reports an event to all current monitorings, unless permission or a failure prevents it.
    public func send(_ event: LocationEvent) {
        let monitors = state.withLock { $0.monitors.sorted { $0.key < $1.key } }
        for (_, monitor) in monitors { monitor.send(event) }
    }

    /// Changes the permission; a denial is reported.
    public func setPermission(_ permission: LocationPermission) {
        change { $0.permission = permission }
    }

    /// Sets a persistent failure, such as a broken connection; nil clears it.
    ///
    /// The failure is reported, and events of the track are lost in the meantime.
    public func setFailure(_ failure: LocationError?) {
        change { $0.failure = failure }
    }

    private func change(_ body: (inout State) -> Void) {
        let (obstacle, monitors) = state.withLock { state in
            body(&state)
            let monitors = state.monitors.sorted { $0.key < $1.key }
            // Inside the lock, so that changes reach a monitoring in order.
            for (_, monitor) in monitors { monitor.enqueueObstacle(state.obstacle) }
            return (state.obstacle, monitors)
        }
        for (_, monitor) in monitors {
            monitor.drain()
            // A monitoring that was blocked starts with the track.
            if obstacle == nil { monitor.play(track, on: clock) }
        }
    }

    /// Waits until there are exactly this many monitorings, or until the task is canceled.
    public func waitForMonitors(_ count: Int = 1) async {
        while !Task.isCancelled {
            let generation = changes.generation
            guard monitorCount != count else { return }
            await changes.wait(since: generation)
        }
    }

    // MARK: Adapter

    public func capabilities() async -> LocationCapabilities {
        let (permission, obstacle) = state.withLock { ($0.permission, $0.obstacle) }
        return LocationCapabilities(
            kind: .scripted,
            features: permission == .notRequired ? [] : [.asksPermission, .asksForAlways],
            problem: obstacle?.code
        )
    }

    public func permission() async -> LocationPermission { state.withLock { $0.permission } }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        let isOpen = state.withLock { state in
            guard state.permission == .notDetermined else { return false }
            state.permissionRequestCount += 1
            return true
        }
        if isOpen { setPermission(answer) }
        return await permission()
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let monitoring = ScriptedMonitoring(report)
        let (id, obstacle) = state.withLock { state in
            state.totalMonitorCount += 1
            // Before others can reach the monitoring, so that its start is the first event.
            monitoring.enqueueStart(state.obstacle)
            state.monitors[state.totalMonitorCount] = monitoring
            return (state.totalMonitorCount, state.obstacle)
        }
        monitoring.drain()
        if obstacle == nil { monitoring.play(track, on: clock) }
        changes.raise()
        return { [weak self] in
            monitoring.end()
            guard let self else { return }
            _ = state.withLock { $0.monitors.removeValue(forKey: id) }
            changes.raise()
        }
    }
}
