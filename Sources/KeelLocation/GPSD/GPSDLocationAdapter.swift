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
/// It speaks gpsd's JSON protocol, version 3 (gpsd_json(5)), over TCP, and needs no library. Each
/// monitoring has a connection and a thread of its own, which sleeps until something comes. When
/// the connection breaks, it says `disconnected` and connects again after a pause that grows and
/// is drawn at random.
///
/// Nobody is asked for permission: whoever reaches the port may read the position, in plain text.
/// gpsd listens on loopback only unless it was told otherwise; keep it so, or use a tunnel.
///
/// Accuracies are gpsd's, which hold for 95 % of fixes. The altitude is the one above mean sea level,
/// and of fixes in two dimensions it is left out. A fix without a time of the receiver gets that of
/// this machine.
public struct GPSDLocationAdapter: LocationAdapter {
    /// The longest line that is read, in bytes; gpsd's own are below 16 KiB.
    public static let maximumLineByteCount = 64 << 10

    private let configuration: Configuration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let counts = GPSDCounts()

    /// Creates an adapter; nothing is connected yet.
    ///
    /// - Parameters:
    ///   - configuration: Where gpsd listens.
    ///   - clock: What limits and pauses are measured on.
    ///   - now: The time of day, for fixes without a time.
    public init(
        _ configuration: Configuration = Configuration(),
        clock: any Clock<Duration> = ContinuousClock(),
        now: @escaping @Sendable () -> Date = { Date() }
    ) {
        self.configuration = configuration
        self.clock = clock
        self.now = now
    }

    /// What was read so far; copies share it.
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

/// What all connections of an adapter count in.
final class GPSDCounts: Sendable {
    let value = Mutex(GPSDLocationAdapter.Statistics())
}
#endif
