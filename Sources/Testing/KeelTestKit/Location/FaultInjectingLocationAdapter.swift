public import KeelLocation
internal import Synchronization

/// A location adapter whose calls fail on demand.
///
/// ```swift
/// let refused = ScriptedLocationAdapter().failing { _ in .fail(.permissionDenied) }
/// let breaking = ScriptedLocationAdapter(track).failing([nil, .interrupt(after: 3)])
/// ```
///
/// Each monitoring begins in a task, after the delay of its fault. Copies share the call count and the position in the
/// list. Reading the permission cannot fail and is not counted.
public struct FaultInjectingLocationAdapter<Upstream: LocationAdapter>: LocationAdapter {
    fileprivate let upstream: Upstream
    fileprivate let schedule: CallFaults<LocationCall, LocationFault>

    /// The number of calls.
    public var callCount: Int { schedule.callCount }

    // MARK: Adapter

    public func capabilities() async -> LocationCapabilities { await upstream.capabilities() }

    public func permission() async -> LocationPermission { await upstream.permission() }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        let fault = try await schedule.begin(.requestPermission(scope)) {
            LocationError(.cancelled, "The call was canceled.", cause: $0)
        }
        if case .failure(let error) = fault { throw error }
        return try await upstream.requestPermission(scope)
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let monitoring = FaultyMonitoring(report)
        monitoring.begin { [upstream, schedule] in
            // Only the end of the monitoring cancels the delay.
            guard let fault = try? await schedule.begin(.monitor(request), { $0 }) else {
                if !Task.isCancelled {
                    monitoring.isUpstream(upstream.monitor(request) { monitoring.tell($0) })
                }
                return
            }
            switch fault {
            case .failure(let error):
                monitoring.tell(.failure(error))
            case .silence:
                monitoring.isUpstream(upstream.monitor(request) { _ in })
            case .interruption(let count, let error):
                monitoring.limit(count, error)
                monitoring.isUpstream(upstream.monitor(request) { monitoring.tell($0) })
            case .delay:
                break
            }
        }
        return { monitoring.end() }
    }
}

/// A monitoring that begins after its delay.
private final class FaultyMonitoring: Sendable {
    private struct State {
        var task: Task<Void, Never>?
        var end: (@Sendable () -> Void)?
        var isOver = false
        var left: (count: Int, error: LocationError)?
    }

    private let state = Mutex(State())
    private let report: @Sendable (LocationEvent) -> Void

    init(_ report: @escaping @Sendable (LocationEvent) -> Void) { self.report = report }

    func begin(_ body: @escaping @Sendable () async -> Void) {
        state.withLock { $0.task = Task { await body() } }
    }

    func limit(_ count: Int, _ error: LocationError) {
        state.withLock { $0.left = (count, error) }
        if count == 0 { interrupt() }
    }

    func isUpstream(_ end: @escaping @Sendable () -> Void) {
        let isOver = state.withLock { state in
            if !state.isOver { state.end = end }
            return state.isOver
        }
        if isOver { end() }
    }

    func tell(_ event: LocationEvent) {
        let (isOver, isLast) = state.withLock { state in
            guard !state.isOver, case .fix = event, let left = state.left else {
                return (state.isOver, false)
            }
            state.left = (left.count - 1, left.error)
            return (false, left.count == 1)
        }
        guard !isOver else { return }
        report(event)
        if isLast { interrupt() }
    }

    private func interrupt() {
        guard let error = state.withLock({ $0.left?.error }) else { return }
        report(.failure(error))
        end()
    }

    func end() {
        let (task, end) = state.withLock { state in
            state.isOver = true
            return (state.task.take(), state.end.take())
        }
        task?.cancel()
        end?()
    }
}

extension LocationAdapter {
    /// Makes calls fail as a closure says; see ``FaultInjectingLocationAdapter``.
    ///
    /// It returns the fault of each call; nil lets the call through. Delays are measured on `clock`.
    public func failing(
        clock: any Clock<Duration> = ContinuousClock(),
        _ fault: @escaping @Sendable (LocationCall) -> LocationFault?
    ) -> FaultInjectingLocationAdapter<Self> {
        FaultInjectingLocationAdapter(upstream: self, schedule: CallFaults(clock, fault: fault))
    }

    /// Makes the first calls fail as a list says; see ``FaultInjectingLocationAdapter``.
    ///
    /// In the list, nil lets a call through, as does its end. Delays are measured on `clock`.
    public func failing(
        _ faults: [LocationFault?],
        clock: any Clock<Duration> = ContinuousClock()
    ) -> FaultInjectingLocationAdapter<Self> {
        FaultInjectingLocationAdapter(upstream: self, schedule: CallFaults(clock, faults: faults))
    }
}
