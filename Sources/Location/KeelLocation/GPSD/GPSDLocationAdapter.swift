#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

/// An adapter for gpsd, the daemon that reads receivers on Linux and elsewhere.
///
/// The adapter uses gpsd's JSON protocol, version 3 (gpsd_json(5)), over TCP. Each monitoring has its own connection
/// and thread. After a broken connection, the adapter reports `disconnected` and reconnects after a random, growing
/// delay. Another version of the protocol is the failure `unsupported`, and ends the attempts.
///
/// No permission is needed: anyone who can reach the port can read the position, in plain text. By default gpsd listens
/// only on loopback.
///
/// Accuracies are gpsd's, which hold for 95 % of fixes. The altitude is above mean sea level, and
/// omitted for two-dimensional fixes. A fix without the receiver's time gets that of this machine.
public struct GPSDLocationAdapter: LocationAdapter {
    /// The maximum length of a line in bytes; longer lines are skipped.
    public static let maximumLineByteCount = 64 << 10

    private let configuration: Configuration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let counts = GPSDCounts()

    /// Creates an adapter, without connecting yet.
    ///
    /// - Parameters:
    ///   - configuration: The address of gpsd, and time limits.
    ///   - clock: The clock for limits and delays.
    ///   - now: Returns the time of day, for fixes without a time.
    public init(
        _ configuration: Configuration = Configuration(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.clock = clock
        self.now = now
    }

    /// The counts so far, shared by copies.
    public var statistics: Statistics { counts.value.withLock { $0 } }

    public func capabilities() async -> LocationCapabilities {
        LocationCapabilities(kind: .gpsd, features: .connects)
    }

    public func permission() async -> LocationPermission { .notRequired }

    public func requestPermission(
        _ scope: LocationPermission.Scope
    ) async throws(LocationError) -> LocationPermission {
        .notRequired
    }

    public func monitor(
        _ request: LocationRequest,
        report: @escaping @Sendable (LocationEvent) -> Void
    ) -> @Sendable () -> Void {
        let watch = GPSDWatch(configuration, clock, now, counts, report)
        watch.start()
        return { watch.end() }
    }
}

final class GPSDCounts: Sendable {
    let value = Mutex(GPSDLocationAdapter.Statistics())
}
#endif
