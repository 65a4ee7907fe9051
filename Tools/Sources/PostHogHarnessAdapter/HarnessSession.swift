import Foundation
import HTTPTypes
import KeelAnalytics
import KeelAnalyticsHTTP
import KeelHTTP
import KeelHTTPCompression
import Synchronization

/// A service for the harness, in its own folder.
///
/// The harness tests SDKs for servers, where each event names its user, but Keel's service has one user at a time: each
/// event sets the user first, and the destination does not receive the records of these changes.
final class HarnessSession: Sendable {
    private let service: AnalyticsService
    private let log: HarnessRequestLog
    private let folder: URL
    private let clock: any Clock<Duration>
    private let captured = Mutex(0)
    /// Canceled by ``close()``, which every owner of a session calls.
    private let deliveries: Task<Void, Never>

    /// Opens a service and begins to deliver.
    init(
        _ request: HarnessInit,
        transport: any HTTPTransport,
        clock: any Clock<Duration>
    ) throws(HarnessFailure) {
        guard let host = URL(string: request.host), host.host() != nil else {
            throw HarnessFailure(.badRequest, "“host” is not an address.")
        }
        var configuration = AnalyticsConfiguration()
        configuration.clock = clock
        // The harness has no consent.
        configuration.defaultConsent = .granted
        configuration.deliveryThreshold = max(1, request.flushAt ?? 100)
        // The contract's default, because the harness does not wait as long as Keel's.
        configuration.deliveryInterval = .milliseconds(max(0, request.flushIntervalMs ?? 500))
        let log = HarnessRequestLog(now: configuration.now)
        var connection = DestinationConnection(transport: transport)
        // The harness expects compression of the smallest body; Keel's default is from 1 KiB.
        connection.compressesBodies = false
        connection.middleware = [HarnessRequestObserver(log: log)]
        if request.enableCompression == true {
            connection.middleware.append(RequestCompression(minimumSize: 0))
        }
        let destination = PostHogDestination(
            projectKey: request.apiKey,
            connection: connection,
            host: host,
            name: Self.destination
        )
        var rules = DestinationRules()
        rules.accepts = { $0.kind != .identify }
        configuration.add(LoggedDestination(upstream: destination, log: log), rules: rules)
        let folder = FileManager.default.temporaryDirectory
            .appending(path: "keel-posthog-\(UUID().uuidString)")
        do throws(AnalyticsError) {
            service = try AnalyticsService(at: folder, configuration: configuration)
        } catch {
            throw HarnessFailure(.internalServerError, error.message)
        }
        self.log = log
        self.folder = folder
        self.clock = clock
        deliveries = Task { [service] in await service.run() }
    }

    private static let destination = "posthog"

    /// Stops delivering and deletes the records.
    func close() async {
        deliveries.cancel()
        await deliveries.value
        try? FileManager.default.removeItem(at: folder)
    }

    /// Tracks an event of a user, and returns its id; throws if the service refuses it.
    ///
    /// Calls must not overlap.
    func capture(_ event: HarnessCapture) throws(HarnessFailure) -> String {
        service.setUserID(event.distinctId)
        do throws(AnalyticsError) {
            let id = try service.record(
                AnalyticsEvent(
                    name: event.event,
                    parameters: (event.properties ?? [:]).mapValues(\.value),
                    timestamp: event.timestamp
                )
            )
            captured.withLock { $0 += 1 }
            return id
        } catch {
            throw HarnessFailure(.badRequest, error.message)
        }
    }

    /// Sends the waiting events, and waits until they are delivered or rejected, the destination is misconfigured, or
    /// `limit` has passed.
    ///
    /// The first attempt is immediate. The pauses before further attempts are the service's, even if the first attempt
    /// was made before the flush.
    ///
    /// - Returns: The number of events delivered meanwhile.
    func flush(_ limit: Duration) async -> Int {
        let before = state.totalEventsSent
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                if self.delivery.failures == 0 { await self.service.flush(upTo: limit) }
                await self.settle()
            }
            group.addTask { try? await self.clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
        return state.totalEventsSent - before
    }

    private func settle() async {
        for await _ in service.statusUpdates() {
            let (state, activity) = (state, delivery.activity)
            if state.pendingEvents == 0 || activity == .misconfigured { return }
        }
    }

    // MARK: State

    private var delivery: AnalyticsStatus.Destination {
        service.status.destinations[Self.destination] ?? AnalyticsStatus.Destination()
    }

    var state: HarnessState {
        let delivery = delivery
        let ledger = delivery.ledger
        // Records of users are not events of the harness.
        let refused = ledger.rejected.filter { $0.key != "filtered" }
        let settled = ledger.delivered + refused.values.reduce(0, +)
        let requests = log.requests
        let captured = captured.withLock { $0 }
        return HarnessState(
            pendingEvents: max(0, captured - settled),
            totalEventsCaptured: captured,
            totalEventsSent: ledger.delivered,
            totalRetries: requests.count { $0.retryAttempt > 0 },
            lastError: delivery.problem.map(\.description) ?? refused.keys.min(),
            requestsMade: requests
        )
    }
}
