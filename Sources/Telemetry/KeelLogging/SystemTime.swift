#if Logging

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The system's time, read without creating a `Date`.
enum SystemTime {
    /// Microseconds since 1970.
    static func now() -> Int64 {
        var time = timespec()
        clock_gettime(CLOCK_REALTIME, &time)
        return Int64(time.tv_sec) * 1_000_000 + Int64(time.tv_nsec) / 1000
    }

    /// Returns the seconds that local time is ahead of UTC at a time in seconds since 1970.
    static func localOffset(at seconds: Int64) -> Int64 {
        var time = time_t(seconds)
        var local = tm()
        guard localtime_r(&time, &local) != nil else { return 0 }
        return Int64(local.tm_gmtoff)
    }
}

#endif
