internal import KeelCore
internal import Synchronization

/// What one use of a source of positions did, without positions.
public struct LocationObservation: Hashable, Sendable {
    /// The uses of a source.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// The user was to be asked for permission.
        case requestPermission
        /// The source was monitored; it is told when that ends.
        case monitor
        /// The source has reported a failure, in the middle of a monitoring.
        case failure
    }

    /// What was done.
    public let operation: Operation
    /// How long it took, or for how long the source was monitored until now.
    public let duration: Duration
    /// How many fixes were reported until now.
    public let fixCount: Int
    /// What failed, nil where nothing did.
    public let failure: LocationError.Code?
}

/// An adapter that tells of each use, for logs, metrics and traces of whatever library.
///
/// ```swift
/// let adapter = GPSDLocationAdapter().observed { use in
///     if let code = use.failure { counter("location.failures", code.name).increment() }
/// }
/// ```
///
/// Observers learn no positions.
public struct ObservedLocationAdapter<Upstream: LocationAdapter>: LocationAdapter {
    private let upstream: Upstream
    private let timeline: Timeline
    private let observer: @Sendable (LocationObservation) -> Void

    /// Creates the decorator; `adapter.observed(by:)` is the usual way.
    ///
    /// - Parameters:
    ///   - upstream: The adapter that does the work.
    ///   - clock: What durations are measured on.
    ///   - observer: Is told of each use, from any thread.
    public init(
        _ upstream: Upstream,
        clock: any Clock<Duration> = ContinuousClock(),
        observer: @escaping @Sendable (LocationObservation) -> Void
    ) {
        self.upstream = upstream
        timeline = Timeline(clock)
        self.observer = observer
    }

    public func capabilities() async -> LocationCapabilities { await upstream.capabilities() }

    public func permission() async -> LocationPermission { await upstream.permission() }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        let begin = timeline.now
        var failure: LocationError.Code?
        defer { tell(.requestPermission, since: begin, 0, failure) }
        do throws(LocationError) {
            return try await upstream.requestPermission(scope)
        } catch {
            failure = error.code
            throw error
        }
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let begin = timeline.now
        let count = FixCount()
        let end = upstream.monitor(request) { event in
            switch event {
            case .fix: count.value.wrappingAdd(1, ordering: .relaxed)
            case .failure(let error): tell(.failure, since: begin, count.now, error.code)
            case .searching: break
            }
            report(event)
        }
        return {
            end()
            if !count.isOver.exchange(true, ordering: .relaxed) {
                tell(.monitor, since: begin, count.now, nil)
            }
        }
    }

    private func tell(
        _ operation: LocationObservation.Operation,
        since begin: Duration,
        _ fixCount: Int,
        _ failure: LocationError.Code?
    ) {
        observer(
            LocationObservation(
                operation: operation,
                duration: timeline.now - begin,
                fixCount: fixCount,
                failure: failure
            )
        )
    }
}

/// How many fixes a monitoring has brought.
private final class FixCount: Sendable {
    let value = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    var now: Int { value.load(ordering: .relaxed) }
}

extension LocationAdapter {
    /// Tells of each use; see ``ObservedLocationAdapter``.
    ///
    /// - Parameters:
    ///   - clock: What durations are measured on.
    ///   - observer: Is told of each use, from any thread.
    /// - Returns: The adapter, observed.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (LocationObservation) -> Void
    ) -> ObservedLocationAdapter<Self> {
        ObservedLocationAdapter(self, clock: clock, observer: observer)
    }
}
