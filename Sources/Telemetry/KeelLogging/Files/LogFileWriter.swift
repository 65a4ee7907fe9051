#if Logging

internal import KeelCore
internal import Logging

/// Appends lines to a file, and rotates it when it is full.
///
/// Other processes may write to the same file. Opening and rotating require the lock; writing does not, since the
/// system appends each line atomically.
struct LogFileWriter: ~Copyable {
    enum Outcome {
        case written
        case rotated
        case dropped
    }

    private let names: LogFileNames
    private let configuration: LogFileConfiguration
    private let files: any FileSystem
    /// The open file; nil if reopening failed.
    private var file: (any OpenFile)?
    private var line = LineBuffer(keepsCallSites: true)
    /// The length of the file, as far as this process knows.
    private var size = 0
    private var unseen = 0
    /// When the file was last checked, in record time.
    private var lastCheck: Int64
    private var periodEnd = Int64.max
    private var isTorn = false
    /// The earliest record time at which a failed rotation or opening is retried.
    private var nextAttempt = Int64.min
    /// The time in the name of the last rotated file.
    private var lastRotation = Int64.min
    private var isDirty = false
    /// Whether names in the folder have changed since it was last synchronized.
    private var hasNewNames = false
    /// Records dropped since the last record was written.
    private var unreported = DroppedLogRecords()
    private(set) var statistics = LogFileStatistics()

    /// How long, in milliseconds, a log call waits for another process that is rotating.
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
        lastCheck = now
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

    /// Writes an event whose line the caller appends; returns the outcome, or nil if the caller appended no line.
    @inline(__always)
    mutating func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Outcome? {
        begin(at: time)
        return append(configuration.format, &line) ? finish(level, at: time) : nil
    }

    /// Starts the buffer with the end of a torn line, and a gap record as needed.
    @inline(__always)
    private mutating func begin(at time: Int64) {
        line.removeAll()
        line.append(UInt8(ascii: "\n"))
        guard !unreported.isEmpty else { return }
        let gap = LogRecord.gap(
            unreported,
            because: "the log file could not be written",
            at: time
        )
        configuration.format.append(gap, to: &line)
    }

    /// The buffered line, with the end of a torn line if the file has one.
    ///
    /// That is known once there is room: another process may have torn the last line of a file that is opened then.
    private var text: UnsafeRawBufferPointer {
        isTorn ? line.bytes : UnsafeRawBufferPointer(rebasing: line.bytes.dropFirst())
    }

    private mutating func finish(_ level: Logger.Level, at time: Int64) -> Outcome {
        let hasRotated = makeRoom(at: time)
        guard let file else { return drop(level) }
        let bytes = text
        do throws(FileSystemError) {
            try file.append(bytes)
        } catch {
            // Any prefix of the line may have been written.
            isTorn = true
            return drop(level)
        }
        isTorn = false
        isDirty = true
        size += bytes.count
        unseen += bytes.count
        if !unreported.isEmpty { unreported = DroppedLogRecords() }
        statistics.written += 1
        // Done here, because another thread may rotate before the caller synchronizes.
        if level == .critical { synchronize() }
        return hasRotated ? .rotated : .written
    }

    private mutating func drop(_ level: Logger.Level) -> Outcome {
        unreported[level] += 1
        statistics.dropped[level] += 1
        return .dropped
    }

    /// Makes the written records survive a power failure; a failure leaves them to the next call.
    mutating func synchronize() {
        guard isDirty, let file else { return }
        guard (try? file.sync()) != nil else { return }
        isDirty = false
        if hasNewNames, (try? files.syncFolder(names.folder)) != nil { hasNewNames = false }
    }

    // MARK: Checking and rotating

    /// Ensures that there is a file with room for the line; returns whether this process has rotated.
    private mutating func makeRoom(at time: Int64) -> Bool {
        let limit = configuration.byteLimit ?? .max
        // Threads read the time before taking the lock: slightly earlier is not a clock set back.
        let isOverdue = (time - lastCheck).magnitude >= UInt64(RotatingLogFile.checkInterval)
        if isOverdue || unseen >= limit / 8 || file == nil { look(at: time) }
        let isFull = size > 0 && size + text.count > limit
        guard isFull || time >= periodEnd else { return false }
        guard size > 0 else {
            startPeriod(at: time)
            return false
        }
        return isAttemptDue(at: time) && rotate(at: time)
    }

    /// Whether a failed operation may be retried; each attempt may wait for another process.
    private func isAttemptDue(at time: Int64) -> Bool {
        time >= nextAttempt || nextAttempt - time > 2 * RotatingLogFile.checkInterval
    }

    /// Checks whether the file still has its name, and how long it is.
    private mutating func look(at time: Int64) {
        lastCheck = time
        unseen = 0
        if let file, file.isStill(at: names.path) {
            size = (try? file.size()) ?? size
            // While a clock was far ahead, the file may have begun in a period that does not end for years.
            if let length = configuration.period?.length, periodEnd - time > 2 * length {
                startPeriod(at: time)
            }
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
            // An old file that is still open is better than none. Without one, records are dropped
            // until an attempt succeeds.
            nextAttempt = time + RotatingLogFile.checkInterval
        }
    }

    mutating func rotateNow() -> Bool {
        nextAttempt = .min
        look(at: lastCheck)
        return size > 0 && rotate(at: lastCheck)
    }

    /// Replaces the current file with a new one, unless another process has just done so.
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
            // The old file is still written to, beyond its limit or under its new name.
            nextAttempt = time + RotatingLogFile.checkInterval
        }
        return hasRotated
    }

    /// Returns an unused name for the rotated file, which sorts behind those that this writer has used before: the
    /// time advances only at each check, and the names of removed files are unused again.
    ///
    /// The caller holds the lock.
    private mutating func freeName(at time: Int64) throws(FileSystemError) -> String {
        let isAhead = lastRotation >= time && lastRotation - time < RotatingLogFile.checkInterval
        lastRotation = isAhead ? lastRotation + 1 : time
        while true {
            let name = names.path(of: names.rotated(at: lastRotation))
            let (plain, compressed) = (try files.size(of: name), try files.size(of: name + ".gz"))
            if plain == nil, compressed == nil { return name }
            lastRotation += 1
        }
    }

    /// Opens or creates the file of the log's name; the caller holds the lock.
    private mutating func open(_ time: Int64) throws(FileSystemError) {
        let opened = try files.open(names.path, for: .appending)
        size = try opened.size()
        unseen = 0
        lastCheck = time
        // A process may have crashed in the middle of a line.
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
