public import KeelLocation
internal import Synchronization

/// A location adapter that records and forwards its calls and their reports.
///
/// ```swift
/// let recorded = ScriptedLocationAdapter(track).recorded()
/// let location = LocationService(recorded)
/// _ = try await location.currentLocation()
/// #expect(recorded.calls.map(\.kind) == [.permission, .monitor, .end])
/// ```
///
/// A call is recorded first, whatever the outcome. Copies share one record.
public struct RecordedLocationAdapter<Upstream: LocationAdapter>: LocationAdapter {
    private struct State {
        var calls: [LocationCall] = []
        var fixes: [LocationFix] = []
        var failures: [LocationError.Code] = []
    }

    private final class Memory: Sendable {
        let state = Mutex(State())
    }

    fileprivate let upstream: Upstream
    private let memory = Memory()

    // MARK: Recorded calls

    /// All calls, in order.
    public var calls: [LocationCall] { memory.state.withLock { $0.calls } }

    /// The number of calls.
    public var callCount: Int { memory.state.withLock { $0.calls.count } }

    /// Returns the number of calls of a kind.
    public func callCount(of kind: LocationCall.Kind) -> Int {
        memory.state.withLock { state in state.calls.count { $0.kind == kind } }
    }

    /// All reported fixes, in order; a fix that reached two monitorings appears twice.
    public var fixes: [LocationFix] { memory.state.withLock { $0.fixes } }

    /// The codes of all reported failures, in order.
    public var failures: [LocationError.Code] { memory.state.withLock { $0.failures } }

    /// Discards the recorded calls and reports.
    public func forget() { memory.state.withLock { $0 = State() } }

    private func remember(_ call: LocationCall) { memory.state.withLock { $0.calls.append(call) } }

    // MARK: Adapter

    public func capabilities() async -> LocationCapabilities { await upstream.capabilities() }

    public func permission() async -> LocationPermission {
        remember(.permission)
        return await upstream.permission()
    }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        remember(.requestPermission(scope))
        return try await upstream.requestPermission(scope)
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        remember(.monitor(request))
        let end = upstream.monitor(request) { [memory] event in
            memory.state.withLock { state in
                switch event {
                case .fix(let fix, _): state.fixes.append(fix)
                case .failure(let error): state.failures.append(error.code)
                case .searching: break
                }
            }
            report(event)
        }
        return {
            remember(.end)
            end()
        }
    }
}

extension LocationAdapter {
    /// Records the calls; see ``RecordedLocationAdapter``.
    public func recorded() -> RecordedLocationAdapter<Self> {
        RecordedLocationAdapter(upstream: self)
    }
}
