public import KeelLocation
internal import Synchronization

/// An adapter that remembers the calls it gets, and what was reported, and hands each on.
///
/// ```swift
/// let recorded = ScriptedLocationAdapter(track).recorded()
/// let location = LocationService(recorded)
/// _ = try await location.currentLocation()
/// #expect(recorded.calls.map(\.kind) == [.permission, .monitor, .end])
/// ```
///
/// A call is remembered before it is handed on, whatever becomes of it. Copies share one memory.
public struct RecordedLocationAdapter<Upstream: LocationAdapter>: LocationAdapter {
    private struct State {
        var calls: [LocationCall] = []
        var fixes: [LocationFix] = []
        var failures: [LocationError.Code] = []
    }

    private final class Memory: Sendable {
        let state = Mutex(State())
    }

    private let upstream: Upstream
    private let memory = Memory()

    /// Creates the decorator; `adapter.recorded()` is the usual way.
    ///
    /// - Parameter upstream: The adapter that does the work.
    public init(_ upstream: Upstream) { self.upstream = upstream }

    // MARK: What was called

    /// All calls, in the order in which they came.
    public var calls: [LocationCall] { memory.state.withLock { $0.calls } }

    /// How many calls there were.
    public var callCount: Int { memory.state.withLock { $0.calls.count } }

    /// How many calls of a kind there were.
    ///
    /// - Parameter kind: The kind.
    /// - Returns: How many.
    public func callCount(of kind: LocationCall.Kind) -> Int {
        memory.state.withLock { state in state.calls.count { $0.kind == kind } }
    }

    /// All fixes that were reported, in order; one that two monitorings got is there twice.
    public var fixes: [LocationFix] { memory.state.withLock { $0.fixes } }

    /// The codes of all failures that were reported, in order.
    public var failures: [LocationError.Code] { memory.state.withLock { $0.failures } }

    /// Forgets everything so far.
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
    /// Remembers the calls; see ``RecordedLocationAdapter``.
    public func recorded() -> RecordedLocationAdapter<Self> { RecordedLocationAdapter(self) }
}
