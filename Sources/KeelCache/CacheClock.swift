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

/// The time that a cache goes by: the time of day for expiry, and a way to wait.
///
/// Entries outlive the program, so that their times are times of day. A test moves both with one
/// clock:
///
/// ```swift
/// let clock = TestClock()
/// let cache = Cache<String, Int>(clock: .following(clock))
/// ```
public struct CacheClock: Sendable {
    private let time: @Sendable () -> CacheInstant
    private let wait: @Sendable (Duration) async throws -> Void

    /// The machine's time of day, and its continuous clock for waiting.
    public static let system = CacheClock(
        now: { CacheInstant(microseconds: Self.machineMicroseconds()) },
        sleep: { try await ContinuousClock().sleep(for: $0) }
    )

    /// Creates a time from its two halves.
    ///
    /// - Parameters:
    ///   - now: The time of day.
    ///   - sleep: Waits for a duration, or throws `CancellationError` when the task is cancelled.
    public init(
        now: @escaping @Sendable () -> CacheInstant,
        sleep: @escaping @Sendable (Duration) async throws -> Void
    ) {
        time = now
        wait = sleep
    }

    /// The time of a clock that a test moves.
    ///
    /// - Parameters:
    ///   - clock: What moves the time.
    ///   - start: The time of day at which the clock stands now.
    /// - Returns: A time of day that moves with the clock.
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

    /// Waits for a duration.
    ///
    /// - Throws: `CancellationError` when the task is cancelled meanwhile.
    public func sleep(for duration: Duration) async throws { try await wait(duration) }

    private static func machineMicroseconds() -> Int64 {
        #if canImport(Darwin) || canImport(Glibc) || canImport(Musl) || canImport(Android)
        // A fifth of the time of `Date()`, and each hit on an entry that can expire takes it.
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1_000
        #else
        return Int64((Date().timeIntervalSince1970 * 1_000_000).rounded(.down))
        #endif
    }
}
