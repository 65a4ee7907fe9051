#if Logging

internal import Logging

/// A place that log records are written to.
///
/// What it gets is already without secrets. An output promises that
///
/// - ``write(_:)`` never fails in the face of the app: what cannot be written is dropped, counted
///   in the output's statistics, and followed by a record that says how many were dropped;
/// - records of one thread stay in their order;
/// - what ``synchronize()`` has returned for is as safe as this output can make it.
///
/// ``OutputLogHandler`` makes a handler for swift-log of it.
public protocol LogOutput: Sendable {
    /// Writes one record.
    func write(_ record: LogRecord)

    /// Returns once every record that was written before is as safe as it can be: on the disk, where
    /// there is one.
    ///
    /// Called after each record of the level `critical`.
    func synchronize()
}

/// An output that writes most events without a record in between.
protocol DirectLogOutput: AnyObject, Sendable {
    /// Writes an event, exactly as it would write its record, unless it needs one.
    ///
    /// - Parameters:
    ///   - level: How serious it is.
    ///   - time: When it was logged, in microseconds since 1970.
    ///   - append: Appends the line of the event in the output's format, and says whether it could.
    /// - Returns: Whether the event is done with; if not, nothing of it was written.
    func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Bool
}

/// What has happened to an output since it was made.
public struct LogOutputStatistics: Sendable, Hashable {
    /// How many records were written.
    public var written = 0
    /// How many were dropped, by level.
    public var dropped = DroppedLogRecords()

    /// Creates counts of nothing.
    public init() {}
}

#endif
