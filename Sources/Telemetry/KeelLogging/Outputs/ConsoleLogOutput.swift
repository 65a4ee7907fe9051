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
/// On a terminal, records are formatted for people, with colors and symbols; elsewhere, in a container or a pipe, as
/// JSON lines. `NO_COLOR` (no-color.org) and `TERM=dumb` turn colors off.
///
/// Each record is passed to the system in one call, before the log call returns, so that records of several processes
/// usually do not interleave. A reader that stalls blocks the app; on a non-blocking stream, each record waits a second
/// and is then dropped. Put a ``QueuedLogOutput`` in front where that can happen.
public final class ConsoleLogOutput: LogOutput, DirectLogOutput {
    /// A standard stream of the process.
    public enum Stream: Int32, Sendable, Hashable {
        /// Standard output.
        case output = 1
        /// Standard error.
        case error = 2
    }

    private struct State: ~Copyable {
        var line = LineBuffer(keepsCallSites: true)
        var statistics = LogOutputStatistics()
        /// Records dropped since the last record was written.
        var unreported = DroppedLogRecords()
        var isTorn = false
    }

    private let descriptor: Int32
    private let format: LogFormat
    private let state = Mutex(State())

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - stream: The stream to write to.
    ///   - format: The format; nil chooses by whether the stream is a terminal.
    public convenience init(_ stream: Stream = .error, format: LogFormat? = nil) {
        self.init(descriptor: stream.rawValue, format: format)
    }

    /// Creates an output over an open descriptor, which it does not close.
    package init(descriptor: Int32, format: LogFormat?) {
        self.descriptor = descriptor
        self.format = format ?? Self.format(isTerminal: isatty(descriptor) == 1, variable(_:))
    }

    /// Standard error, in the format that suits a terminal or a pipe.
    public static let standardError = ConsoleLogOutput(.error)

    /// Standard output, in the format that suits a terminal or a pipe.
    public static let standardOutput = ConsoleLogOutput(.output)

    /// The counts so far.
    public var statistics: LogOutputStatistics { state.withLock { $0.statistics } }

    /// Returns the format for a terminal or a pipe.
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

    private func begin(at time: Int64, _ state: inout State) {
        state.line.removeAll()
        if state.isTorn { state.line.append(UInt8(ascii: "\n")) }
        guard !state.unreported.isEmpty else { return }
        let gap = LogRecord.gap(
            state.unreported,
            because: "the console could not be written",
            at: time
        )
        format.append(gap, to: &state.line)
    }

    private func finish(_ level: Logger.Level, _ state: inout State) {
        let count = Self.write(state.line.bytes, to: descriptor)
        if count == state.line.count {
            state.isTorn = false
            state.statistics.written += 1
            if !state.unreported.isEmpty { state.unreported = DroppedLogRecords() }
        } else {
            if count > 0 { state.isTorn = true }
            state.statistics.dropped[level] += 1
            state.unreported[level] += 1
            LogMetrics.dropped(1, level, output: "console")
        }
    }

    /// Does nothing: written records are already with the system.
    public func synchronize() {}

    /// Returns the number of bytes written: fewer than given after a failure.
    private static func write(_ bytes: UnsafeRawBufferPointer, to descriptor: Int32) -> Int {
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
                // The stream is non-blocking: wait for the reader.
                var poll = pollfd(fd: descriptor, events: Int16(POLLOUT), revents: 0)
                guard systemPoll(&poll) else { return done }
            default: return done
            }
        }
        return done
    }
}

private func systemWrite(_ file: Int32, _ bytes: UnsafeRawPointer?, _ count: Int) -> Int {
    write(file, bytes, count)
}

/// Waits until there is room to write, at most one second.
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
