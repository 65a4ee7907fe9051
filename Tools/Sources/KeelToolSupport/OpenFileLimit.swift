#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#endif

/// The limit of files and connections that the process may have open.
package enum OpenFileLimit {
    /// The present limit, and the maximum to which the process may raise it; nil for no limit.
    package static var current: (soft: UInt64?, hard: UInt64?) {
        var limit = rlimit()
        _ = getrlimit(files, &limit)
        func bounded(_ value: rlim_t) -> UInt64? {
            value == rlim_t.max ? nil : UInt64(value)
        }
        return (bounded(limit.rlim_cur), bounded(min(limit.rlim_max, most)))
    }

    /// Raises the limit as far as the system allows, and returns it; 0 if it is unknown.
    ///
    /// Systems start programs with 1,024 or 256, which is too low for a server.
    package static func raise() -> Int {
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 0 }
        let wanted = min(limit.rlim_max, most)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(files, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }

    #if canImport(Darwin)
    private static var files: Int32 { RLIMIT_NOFILE }
    // Darwin refuses more, whatever the hard limit says.
    private static var most: rlim_t { rlim_t(OPEN_MAX) }
    #else
    private static var files: __rlimit_resource_t { .init(RLIMIT_NOFILE.rawValue) }
    private static var most: rlim_t { .max }
    #endif
}
