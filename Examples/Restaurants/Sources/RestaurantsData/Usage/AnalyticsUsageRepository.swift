internal import KeelAnalytics
internal import KeelAnalyticsHTTP
public import KeelHTTP
public import RestaurantsDomain

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// Usage data in a journal on this device, sent to a server with the user's consent.
public struct AnalyticsUsageRepository: UsageRepository {
    private static let destination = "server"

    private let analytics: AnalyticsService

    /// Opens the journal.
    ///
    /// - Parameters:
    ///   - folder: A folder that only one process uses at a time.
    ///   - server: The server; nil to keep the data on this device.
    ///   - transport: The transport to the server.
    /// - Throws: ``DomainError`` of the kind `storageFailed`.
    public init(
        at folder: URL,
        server: URL?,
        over transport: any HTTPTransport
    ) throws(DomainError) {
        var configuration = AnalyticsConfiguration()
        configuration.context.appName = "Restaurants"
        if let server {
            let connection = DestinationConnection(transport: transport)
            configuration.add(
                KeelServerDestination(host: server, connection: connection, name: Self.destination)
            )
        } else {
            // Records wait until there is a destination.
            configuration.add(
                HandlerDestination(Self.destination, limits: BatchLimits(records: 1, bytes: .max)) {
                    _ in .postponed(DeliveryProblem("no server is set"), notBefore: nil)
                }
            )
        }
        do throws(AnalyticsError) {
            analytics = try AnalyticsService(at: folder, configuration: configuration)
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
    }

    public func note(_ command: String) { analytics.trackScreen(command) }

    public func decide(_ isAgreed: Bool) async throws(DomainError) {
        do throws(AnalyticsError) {
            if isAgreed {
                try analytics.grantConsent(for: .analytics)
            } else {
                try analytics.denyConsent(for: .analytics)
            }
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
        await send(within: .seconds(3))
    }

    public func ledger() async throws(DomainError) -> UsageLedger {
        do throws(AnalyticsError) {
            let ledger = try analytics.ledgers()[Self.destination] ?? AnalyticsLedger()
            return UsageLedger(
                noted: ledger.accepted,
                delivered: ledger.delivered,
                waiting: ledger.pending,
                dropped: ledger.rejectedCount + ledger.expired + ledger.purged
            )
        } catch {
            throw DomainError(.storageFailed, cause: error)
        }
    }

    /// Sends the permitted records, as far as the server responds in time.
    public func send(within limit: Duration) async { _ = await analytics.flush(upTo: limit) }
}

/// A repository that discards events, used if the folder is missing or another process uses it.
public struct NoUsage: UsageRepository {
    /// Creates the repository.
    public init() {}

    public func note(_ command: String) {}
    public func decide(_ isAgreed: Bool) async throws(DomainError) {}

    public func ledger() async throws(DomainError) -> UsageLedger {
        UsageLedger(noted: 0, delivered: 0, waiting: 0, dropped: 0)
    }
}
