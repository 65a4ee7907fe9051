import Foundation

/// The number of files and connections that this process may have open.
enum OpenFiles {
    /// Raises the limit as far as the system lets a process do so itself, and returns it.
    static func raise() -> Int {
        #if canImport(Darwin)
        let (files, most) = (RLIMIT_NOFILE, rlim_t(OPEN_MAX))
        #else
        let (files, most) = (__rlimit_resource_t(RLIMIT_NOFILE.rawValue), rlim_t.max)
        #endif
        var limit = rlimit()
        guard getrlimit(files, &limit) == 0 else { return 0 }
        var raised = limit
        raised.rlim_cur = max(limit.rlim_cur, min(limit.rlim_max, most))
        if setrlimit(files, &raised) == 0 { limit = raised }
        return Int(clamping: limit.rlim_cur)
    }
}
