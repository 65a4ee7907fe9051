import Foundation

/// How much of this process lies in memory.
enum ResidentMemory {
    /// Begins to look for the peak anew, and returns what is resident now, in MiB.
    static func start() throws -> Double {
        #if os(Linux)
        // 5 resets the peak (proc(5)). Not getrusage: its peak outlives `exec`, so that a child
        // begins with its parent's.
        try? Data("5".utf8).write(to: URL(filePath: "/proc/self/clear_refs"))
        return try status("VmRSS:")
        #else
        return peakOfUsage()
        #endif
    }

    /// The most that was resident since the start, in MiB.
    static func peak() throws -> Double {
        #if os(Linux)
        try status("VmHWM:")
        #else
        peakOfUsage()
        #endif
    }

    /// What is resident of another process now, in MiB.
    static func of(_ process: Int32) throws -> Double {
        #if os(Linux)
        try status("VmRSS:", of: "\(process)")
        #else
        throw NotRun("only Linux tells another process's memory, in /proc")
        #endif
    }

    /// Begins to look for the peak of another process anew, and returns what is resident of it now, in MiB.
    static func start(of process: Int32) throws -> Double {
        try? Data("5".utf8).write(to: URL(filePath: "/proc/\(process)/clear_refs"))
        return try of(process)
    }

    /// The most that was resident of another process since the start, in MiB.
    static func peak(of process: Int32) throws -> Double {
        #if os(Linux)
        try status("VmHWM:", of: "\(process)")
        #else
        throw NotRun("only Linux tells another process's memory, in /proc")
        #endif
    }

    #if os(Linux)
    private static func status(_ field: String, of process: String = "self") throws -> Double {
        let text = try String(contentsOf: URL(filePath: "/proc/\(process)/status"), encoding: .utf8)
        guard let line = text.split(separator: "\n").first(where: { $0.hasPrefix(field) }),
            let size = line.split(whereSeparator: \.isWhitespace).dropFirst().first,
            let kibibytes = Double(size)
        else { throw Flaw("The system does not say how much memory is resident.") }
        return kibibytes / 1024
    }
    #else
    private static func peakOfUsage() -> Double {
        var usage = rusage()
        getrusage(RUSAGE_SELF, &usage)
        return Double(usage.ru_maxrss) / 1_048_576
    }
    #endif
}
