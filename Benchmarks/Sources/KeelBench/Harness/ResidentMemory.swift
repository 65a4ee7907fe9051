import Foundation

/// Measures the resident memory of processes.
enum ResidentMemory {
    /// Resets the peak, and returns this process's resident memory in MiB.
    static func start() throws -> Double {
        #if os(Linux)
        // 5 resets the peak (proc(5)). The peak of getrusage survives `exec`, so a child would start with its parent's.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return try status("VmRSS:")
        #else
        return peakOfUsage()
        #endif
    }

    /// Returns this process's peak of resident memory since the start, in MiB.
    static func peak() throws -> Double {
        #if os(Linux)
        try status("VmHWM:")
        #else
        peakOfUsage()
        #endif
    }

    /// Returns another process's resident memory in MiB.
    static func of(_ process: Int32) throws -> Double { try status("VmRSS:", of: "\(process)") }

    /// Resets the peak of another process, and returns its resident memory in MiB.
    static func start(of process: Int32) throws -> Double {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs"))
        return try of(process)
    }

    /// Returns another process's peak of resident memory since the start, in MiB.
    static func peak(of process: Int32) throws -> Double {
        try status("VmHWM:", of: "\(process)")
    }

    private static func status(_ field: String, of process: String = "self") throws -> Double {
        #if os(Linux)
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let size = line.split(whereSeparator: \.isWhitespace).dropFirst().first,
            let kibibytes = Double(size)
        else { throw Flaw("The system does not say how much memory is resident.") }
        return kibibytes / 1024
        #else
        throw NotRun("only Linux tells another process's memory, in /proc")
        #endif
    }

    #if !os(Linux)
    private static func peakOfUsage() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return Double(usage.ru_maxrss) / 1_048_576
    }
    #endif
}
