internal import KeelCore
internal import KeelStorage

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// The time since the machine started, which all of its processes share and which cannot be set.
package struct Uptime: Sendable {
    package let boot: String

    /// Returns the time since the machine started, including sleep.
    package let elapsed: @Sendable () -> Duration

    package init(boot: String, elapsed: @escaping @Sendable () -> Duration) {
        self.boot = boot
        self.elapsed = elapsed
    }

    /// The system's value; nil if the system does not identify its starts.
    package static let system: Uptime? = bootName.map { boot in
        Uptime(boot: boot) {
            var time = timespec()
            #if canImport(Darwin)
            clock_gettime(CLOCK_MONOTONIC_RAW, &time)
            #else
            clock_gettime(CLOCK_BOOTTIME, &time)
            #endif
            return .seconds(Int64(time.tv_sec)) + .nanoseconds(Int64(time.tv_nsec))
        }
    }

    private static var bootName: String? {
        var bytes = [UInt8](repeating: 0, count: 64)
        #if canImport(Darwin)
        var count = bytes.count
        guard sysctlbyname("kern.bootsessionuuid", &bytes, &count, nil, 0) == 0 else { return nil }
        #else
        let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
        guard file >= 0 else { return nil }
        defer { close(file) }
        let count = read(file, &bytes, bytes.count)
        #endif
        let name = bytes.prefix(max(0, count)).prefix { $0 > UInt8(ascii: " ") }
        return name.isEmpty ? nil : String(decoding: name, as: UTF8.self)
    }
}

struct OutboxMoment: Sendable {
    let wall: Timestamp
    /// Nil if only the time of day counts.
    let uptime: (boot: String, time: Duration)?

    var fields: DocumentFields {
        var fields: DocumentFields = ["wall": .timestamp(wall)]
        if let uptime {
            fields["boot"] = .string(uptime.boot)
            fields["uptime"] = .integer(uptime.time.microseconds)
        }
        return fields
    }
}

extension Outbox.Configuration {
    var moment: OutboxMoment {
        // A custom clock, as in a test, replaces the machine's time for leases, too.
        let source = uptime ?? (clock is ContinuousClock ? Uptime.system : nil)
        return OutboxMoment(wall: now(), uptime: source.map { ($0.boot, $0.elapsed()) })
    }
}
