import HTTPTypes
import KeelAnalytics
import KeelHTTP
import Synchronization

/// The requests of a service to the harness's server.
final class HarnessRequestLog: Sendable {
    private struct State {
        /// The ids of the events of the current batch; a destination receives one batch at a time.
        var batch: [String] = []
        var requests: [HarnessState.Request] = []
    }

    private let state = Mutex(State())
    private let now: @Sendable () -> Int64

    /// Creates an empty log; `now` returns the time in microseconds since 1970.
    init(now: @escaping @Sendable () -> Int64) { self.now = now }

    var requests: [HarnessState.Request] { state.withLock { $0.requests } }

    /// Records the ids of the events of the next requests.
    func begin(_ batch: [String]) { state.withLock { $0.batch = batch } }

    /// Records the status of the response to a request; 0 without a response.
    func note(_ status: Int) {
        let milliseconds = now() / 1000
        state.withLock { state in
            let isRepeated = state.requests.last?.uuidList == state.batch
            let attempt = isRepeated ? (state.requests.last?.retryAttempt ?? 0) + 1 : 0
            state.requests.append(
                HarnessState.Request(
                    timestampMs: milliseconds,
                    statusCode: status,
                    retryAttempt: attempt,
                    eventCount: state.batch.count,
                    uuidList: state.batch
                )
            )
        }
    }
}

struct HarnessRequestObserver: HTTPMiddleware {
    let log: HarnessRequestLog

    func intercept(
        _ call: HTTPCall,
        next: HTTPNext
    ) async throws(TransportError) -> HTTPReply {
        do throws(TransportError) {
            let reply = try await next(call)
            log.note(reply.head.status.code)
            return reply
        } catch {
            log.note(0)
            throw error
        }
    }
}

struct LoggedDestination<Upstream: AnalyticsDestination>: AnalyticsDestination {
    let upstream: Upstream
    let log: HarnessRequestLog

    var name: String { upstream.name }
    var guarantee: DeliveryGuarantee { upstream.guarantee }
    var limits: BatchLimits { upstream.limits }

    func size(of record: AnalyticsRecord) throws(AnalyticsRejection) -> Int {
        try upstream.size(of: record)
    }

    func deliver(_ batch: [AnalyticsRecord]) async -> DeliveryOutcome {
        log.begin(batch.map(\.id))
        return await upstream.deliver(batch)
    }
}
