#if Logging

internal import Logging
internal import Synchronization

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// Writes records to standard output or standard error.
///
/// Where somebody looks, a terminal, it writes for people, with colours and symbols; elsewhere, in a
/// container or a pipe, JSON lines. `NO_COLOR` (no-color.org) and `TERM=dumb` switch colours off.
///
/// A record is one call of the system, so that those of several processes do not mix, and it is
/// written before the log call returns. A reader that does not read therefore holds the app up:
/// put a ``QueuedLogOutput`` before it where that can happen.
public final class ConsoleLogOutput: LogOutput, DirectLogOutput {
    /// One of the two streams of a process.
    public enum Stream: Int32, Sendable, Hashable {
        /// Standard output.
        case output = 1
        /// Standard error.
        case error = 2
    }

    private struct State: ~Copyable {
        var line = LineBuffer(keepsCallSites: true)
        var statistics = LogOutputStatistics()
        /// What was dropped since the last record.
        var unreported = DroppedLogRecords()
    }

    private let descriptor: Int32
    private let format: LogFormat
    private let state = Mutex(State())

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - stream: Where to write.
    ///   - format: How; nil goes by who looks.
    public convenience init(_ stream: Stream = .error, format: LogFormat? = nil) {
        self.init(descriptor: stream.rawValue, format: format)
    }

    /// Creates an output over an open descriptor, which it does not close.
    package init(descriptor: Int32, format: LogFormat?) {
        self.descriptor = descriptor
        self.format = format ?? Self.format(isTerminal: isatty(descriptor) == 1, variable(_:))
    }

    /// Standard error, in the format that fits who looks.
    public static let standardError = ConsoleLogOutput(.error)

    /// Standard output, in the format that fits who looks.
    public static let standardOutput = ConsoleLogOutput(.output)

    /// What has happened so far.
    public var statistics: LogOutputStatistics { state.withLock { $0.statistics } }

    /// The format for who looks.
    package static func format(
        isTerminal: Bool,
        _ environment: (String) -> String?
    ) -> LogFormat {
        guard isTerminal else { return .jsonLines }
        let hasColors = (environment("NO_COLOR") ?? "").isEmpty && environment("TERM") != "dumb"
        return .text(symbols: true, colors: hasColors, indentsLineBreaks: true)
    }

    public func write(_ record: LogRecord) {
        state.withLock { state in
            begin(at: record.time, &state)
            format.append(record, to: &state.line)
            finish(record.level, &state)
        }
    }

    func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Bool {
        state.withLock { state in
            begin(at: time, &state)
            let isWhole = append(format, &state.line)
            if isWhole { finish(level, &state) }
            return isWhole
        }
    }

    /// Begins with what has to stand before the next record.
    private func begin(at time: Int64, _ state: inout State) {
        state.line.removeAll()
        guard !state.unreported.isEmpty else { return }
        let gap = LogRecord.gap(state.unreported, because: "the console took nothing", at: time)
        format.append(gap, to: &state.line)
    }

    /// Writes the line of a record.
    private func finish(_ level: Logger.Level, _ state: inout State) {
        if Self.write(state.line.bytes, to: descriptor) {
            state.statistics.written += 1
            if !state.unreported.isEmpty { state.unreported = DroppedLogRecords() }
        } else {
            state.statistics.dropped[level] += 1
            state.unreported[level] += 1
            LogMetrics.dropped(1, level, output: "console")
        }
    }

    /// Does nothing: the system has what was written, and nobody can do more for a terminal.
    public func synchronize() {}

    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Bool {
        var done = 0
        while done < bytes.count {
            let length = systemWrite(
                descriptor,
                bytes.baseAddress.map { $0 + done },
                bytes.count - done
            )
            if length >= 0 {
                done += length
                continue
            }
            switch errno {
            case EINTR: continue
            case EAGAIN:
                // Somebody has made the stream non-blocking: wait for the reader.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard systemPoll(&poll) else { return false }
            default: return false
            }
        }
        return true
    }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}

/// Waits until there is room to write, at most a second.
private func systemPoll(_ poll: inout pollfd) -> Bool {
    withUnsafeMutablePointer(to: &poll) { pointer in
        #if canImport(Darwin)
        Darwin.poll(pointer, 1, 1000) > 0
        #elseif canImport(Glibc)
        Glibc.poll(pointer, 1, 1000) > 0
        #elseif canImport(Musl)
        Musl.poll(pointer, 1, 1000) > 0
        #elseif canImport(Bionic)
        Bionic.poll(pointer, 1, 1000) > 0
        #endif
    }
}

private func variable(_ name: String) -> String? { getenv(name).map { String(cString: $0) } }

#endif
