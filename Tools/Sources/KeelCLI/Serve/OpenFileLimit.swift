#if canImport(Glibc)
import Glibc
#elseif canImport(Darwin)
import Darwin
#endif

/// How many files and connections the process may have open.
enum OpenFileLimit {
    /// Raises the limit as far as the system lets a process do so itself.
    ///
    /// Systems start programs with 1,024 or 256, far below what they allow to those who ask: a
    /// server would refuse connections long before it has reached its own limit.
    ///
    /// - Returns: The limit that now holds.
    static func raise() -> Int {
        var limit = rlimit()
        #if canImport(Glibc)
        let files = __rlimit_resource_t(RLIMIT_NOFILE.rawValue)
        let most = rlim_t.max
        #else
        let files = RLIMIT_NOFILE
        // Darwin refuses more, whatever the hard limit says.
        let most = rlim_t(OPEN_MAX)
        #endif
        guard getrlimit(files, &limit) == 0 else { return 0 }
        let wanted = min(limit.rlim_max, most)
        if limit.rlim_cur < wanted {
            var raised = limit
            raised.rlim_cur = wanted
            if setrlimit(files, &raised) == 0 { limit = raised }
        }
        return Int(clamping: limit.rlim_cur)
    }
}
