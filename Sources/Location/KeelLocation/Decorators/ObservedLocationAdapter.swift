internal import KeelCore
internal import Synchronization

/// A report about the use of a source, without positions.
public struct LocationObservation: Hashable, Sendable {
    /// The kinds of use.
    public enum Operation: String, Sendable, Hashable, CaseIterable {
        /// Permission was requested.
        case requestPermission
        /// The source was monitored; reported at the end.
        case monitor
        /// The source reported a failure while monitored.
        case failure
    }

    /// The kind of use.
    public let operation: Operation
    /// The duration of the request, or of the monitoring so far.
    public let duration: Duration
    /// The number of fixes reported so far.
    public let fixCount: Int
    /// The failure, if any.
    public let failure: LocationError.Code?
}

/// An adapter that reports permission requests and monitorings, for logs, metrics and traces.
///
/// ```swift
/// let adapter = GPSDLocationAdapter().observed { use in
///     if let code = use.failure { counter("location.failures", code.name).increment() }
/// }
/// ```
public struct ObservedLocationAdapter<Upstream: LocationAdapter>: LocationAdapter {
    fileprivate let upstream: Upstream
    fileprivate let timeline: Timeline
    fileprivate let observer: @Sendable (LocationObservation) -> Void

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

private final class FixCount: Sendable {
    let value = Atomic<Int>(0)
    let isOver = Atomic<Bool>(false)

    var now: Int { value.load(ordering: .relaxed) }
}

extension LocationAdapter {
    /// Reports the use of the source to an observer, on any thread; see ``ObservedLocationAdapter``.
    public func observed(
        clock: any Clock<Duration> = ContinuousClock(),
        by observer: @escaping @Sendable (LocationObservation) -> Void
    ) -> ObservedLocationAdapter<Self> {
        ObservedLocationAdapter(upstream: self, timeline: Timeline(clock), observer: observer)
    }
}
