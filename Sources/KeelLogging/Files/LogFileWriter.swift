#if Logging

internal import KeelCore
internal import Logging

/// Writes lines to the end of a file, and puts another in its place when it is full.
///
/// Others may do the same to the same file. Whoever opens or rotates holds the lock; whoever writes
/// does not need it, since the system puts each line behind the others.
struct LogFileWriter: ~Copyable {
    enum Outcome {
        case written
        case rotated
        case dropped
    }

    private let names: LogFileNames
    private let configuration: LogFileConfiguration
    private let files: any FileSystem
    /// The file; nil when it could not be opened again.
    private var file: (any OpenFile)?
    private var line = LineBuffer(keepsCallSites: true)
    /// How long the file is, as far as this process knows.
    private var size = 0
    /// How much was written since the file was last looked at.
    private var unseen = 0
    /// When the file was last looked at, in the time of records.
    private var lastLook: Int64
    /// When the period of the file ends.
    private var periodEnd = Int64.max
    /// Whether the last line has no end.
    private var isTorn = false
    /// When rotating or opening, which failed, may be tried again, in the time of records.
    private var nextAttempt = Int64.min
    /// Whether there is anything that a power failure would take.
    private var isDirty = false
    /// Whether names in the folder have changed since it was synchronised.
    private var hasNewNames = false
    /// What was dropped since the last record.
    private var unreported = DroppedLogRecords()
    private(set) var statistics = LogFileStatistics()

    /// How long a log call waits for another process that rotates.
    private static let patience = 200

    init(
        _ names: LogFileNames,
        _ configuration: LogFileConfiguration,
        _ files: any FileSystem,
        now: Int64
    ) throws(FileSystemError) {
        self.names = names
        self.configuration = configuration
        self.files = files
        lastLook = now
        let lock = try files.lock(names.lock, waitingUpTo: 5000)
        try open(now)
        withExtendedLifetime(lock) {}
    }

    // MARK: Writing

    mutating func write(_ record: LogRecord) -> Outcome {
        begin(at: record.time)
        configuration.format.append(record, to: &line)
        return finish(record.level, at: record.time)
    }

    /// Writes an event of which somebody else makes the line.
    ///
    /// - Returns: What came of it; nil if there was no line.
    @inline(__always)
    mutating func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Outcome? {
        begin(at: time)
        return append(configuration.format, &line) ? finish(level, at: time) : nil
    }

    /// Begins with what has to stand before the next record.
    @inline(__always)
    private mutating func begin(at time: Int64) {
        line.removeAll()
        if isTorn { line.append(UInt8(ascii: "\n")) }
        guard !unreported.isEmpty else { return }
        let gap = LogRecord.gap(
            unreported,
            because: "the log file could not be written",
            at: time
        )
        configuration.format.append(gap, to: &line)
    }

    /// Writes the line of a record.
    private mutating func finish(_ level: Logger.Level, at time: Int64) -> Outcome {
        let hasRotated = makeRoom(at: time)
        guard let file else { return drop(level) }
        do throws(FileSystemError) {
            try file.append(line.bytes)
        } catch {
            // Any part of the line may be there.
            isTorn = true
            return drop(level)
        }
        isTorn = false
        isDirty = true
        size += line.count
        unseen += line.count
        if !unreported.isEmpty { unreported = DroppedLogRecords() }
        statistics.written += 1
        // Here, because another thread may rotate before the caller synchronises.
        if level == .critical { synchronize() }
        return hasRotated ? .rotated : .written
    }

    private mutating func drop(_ level: Logger.Level) -> Outcome {
        unreported[level] += 1
        statistics.dropped[level] += 1
        return .dropped
    }

    /// Makes what was written survive a power failure; what cannot be synchronised stays as it is.
    mutating func synchronize() {
        guard isDirty, let file else { return }
        guard (try? file.sync()) != nil else { return }
        isDirty = false
        if hasNewNames, (try? files.syncFolder(names.folder)) != nil { hasNewNames = false }
    }

    // MARK: Looking and rotating

    /// Sees to it that there is a file with room for the line.
    ///
    /// - Returns: Whether this process has rotated.
    private mutating func makeRoom(at time: Int64) -> Bool {
        let limit = configuration.byteLimit ?? .max
        // Threads take the time before they take turns: a little earlier is no clock set back.
        let isOverdue = (time - lastLook).magnitude >= UInt64(RotatingLogFile.lookInterval)
        if isOverdue || unseen >= limit / 8 || file == nil { look(at: time) }
        let isFull = size > 0 && size + line.count > limit
        guard isFull || time >= periodEnd else { return false }
        guard size > 0 else {
            startPeriod(at: time)
            return false
        }
        return isAttemptDue(at: time) && rotate(at: time)
    }

    /// Whether what has failed may be tried again: each try may wait for another process.
    private func isAttemptDue(at time: Int64) -> Bool {
        time >= nextAttempt || nextAttempt - time > 2 * RotatingLogFile.lookInterval
    }

    /// Looks whether the file is still the one of that name, and how long it is.
    private mutating func look(at time: Int64) {
        lastLook = time
        unseen = 0
        if let file, file.isStill(at: names.path) {
            size = (try? file.size()) ?? size
            return
        }
        reopen(at: time)
    }

    private mutating func reopen(at time: Int64) {
        guard isAttemptDue(at: time) else { return }
        do throws(FileSystemError) {
            try files.makeFolder(names.folder)
            let lock = try files.lock(names.lock, waitingUpTo: Self.patience)
            try open(time)
            withExtendedLifetime(lock) {}
            statistics.reopenings += 1
        } catch {
            // An old file that is still open is better than none; without one, records are dropped
            // until it works again.
            nextAttempt = time + RotatingLogFile.lookInterval
        }
    }

    /// Begins a new file now, unless this one is empty.
    mutating func rotateNow() -> Bool {
        nextAttempt = .min
        look(at: lastLook)
        return size > 0 && rotate(at: lastLook)
    }

    /// Puts a new file in the place of the old one, unless somebody else has just done so.
    private mutating func rotate(at time: Int64) -> Bool {
        var hasRotated = false
        do throws(FileSystemError) {
            let lock = try files.lock(names.lock, waitingUpTo: Self.patience)
            if let file, file.isStill(at: names.path) {
                try files.rename(names.path, to: freeName(at: time))
                hasRotated = true
                statistics.rotations += 1
            } else {
                statistics.reopenings += 1
            }
            try open(time)
            withExtendedLifetime(lock) {}
        } catch {
            // The old file goes on to be written, beyond its limit or under its new name.
            nextAttempt = time + RotatingLogFile.lookInterval
        }
        return hasRotated
    }

    /// A name for the file that no other has; the lock is held.
    private func freeName(at time: Int64) throws(FileSystemError) -> String {
        var time = time
        while true {
            let name = names.path(of: names.rotated(at: time))
            let (plain, compressed) = (try files.size(of: name), try files.size(of: name + ".gz"))
            if plain == nil, compressed == nil { return name }
            time += 1
        }
    }

    /// Opens the file of the name, or makes it; the lock is held.
    private mutating func open(_ time: Int64) throws(FileSystemError) {
        let opened = try files.open(names.path, for: .appending)
        size = try opened.size()
        unseen = 0
        lastLook = time
        // Somebody may have been stopped in the middle of a line.
        isTorn = try opened.read(at: max(0, size - 1), count: 1).contains {
            $0 != UInt8(ascii: "\n")
        }
        let begun = size > 0 ? try opened.modificationTime() ?? time : time
        startPeriod(at: min(begun, time))
        file = opened
        hasNewNames = true
    }

    private mutating func startPeriod(at time: Int64) {
        guard let length = configuration.period?.length else { return }
        let begin = time - ((time % length) + length) % length
        periodEnd = begin + length
    }
}

#endif
