#if canImport(FoundationEssentials)
public import FoundationEssentials
#else
public import Foundation
#endif

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Android)
internal import Android
#endif

/// The time of day of a cache, for expiry, and its way to sleep.
///
/// A test moves both with one clock:
///
/// ```swift
/// let clock = TestClock()
/// let cache = Cache<String, Int>(clock: .following(clock))
/// ```
public struct CacheClock: Sendable {
    private let time: @Sendable () -> CacheInstant
    private let wait: @Sendable (Duration) async throws -> Void

    /// The system's time of day, and its continuous clock for sleeping.
    public static let system = CacheClock(
        now: { CacheInstant(microseconds: Self.machineMicroseconds()) },
        sleep: { try await ContinuousClock().sleep(for: $0) }
    )

    /// Creates a clock from a time source and a sleep function.
    ///
    /// - Parameters:
    ///   - now: Returns the time of day.
    ///   - sleep: Waits for a duration; throws `CancellationError` when the task is canceled.
    public init(
        now: @escaping @Sendable () -> CacheInstant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        time = now
        wait = sleep
    }

    /// Returns a cache clock that follows another clock, usually that of a test; it starts at the time of day `start`.
    public static func following<C: Clock<Duration>>(
        _ clock: C,
        from start: Date = Date(timeIntervalSince1970: 1_800_000_000)
    ) -> CacheClock {
        let origin = clock.now
        let first = CacheInstant(start)
        return CacheClock(
            now: {
                let (seconds, attoseconds) = origin.duration(to: clock.now).components
                return CacheInstant(
                    microseconds: first.microseconds + seconds * 1_000_000
                        + attoseconds / 1_000_000_000_000
                )
            },
            sleep: { try await clock.sleep(for: $0) }
        )
    }

    /// The time of day.
    public var now: CacheInstant { time() }

    /// Waits for a duration; throws `CancellationError` if the task is canceled.
    public func sleep(for duration: Duration) async throws { try await wait(duration) }

    private static func machineMicroseconds() -> Int64 {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
        // A fifth of the time of `Date()`; every hit on an entry that can expire reads it.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        #else
        return Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down))
        #endif
    }
}
