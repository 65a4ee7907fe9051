#if Logging

internal import Logging

/// A destination for log records.
///
/// Records are already redacted. An output promises that
///
/// - ``write(_:)`` never fails visibly to the app: records that cannot be written are dropped, counted in the output's
///   statistics, and followed by a record with their number;
/// - records of one thread keep their order;
/// - records written before ``synchronize()`` returns are as durable as this output can make them.
///
/// Use ``OutputLogHandler`` to turn an output into a swift-log handler.
public protocol LogOutput: Sendable {
    /// Writes one record.
    func write(_ record: LogRecord)

    /// Returns once all records written before are as durable as possible, such as on disk.
    ///
    /// Called after each record of level `critical`.
    func synchronize()
}

/// An output that can write most events without making a record.
protocol DirectLogOutput: AnyObject, Sendable {
    /// Writes an event of a time in microseconds since 1970, with the same bytes as its record; false if it needs a
    /// record, and nothing was written.
    ///
    /// `append` appends the event's line in the output's format, and returns whether it could.
    func write(
        _ level: Logger.Level,
        at time: Int64,
        _ append: (LogFormat, inout LineBuffer) -> Bool
    ) -> Bool
}

/// Counts of an output since it was created.
public struct LogOutputStatistics: Sendable, Hashable {
    /// The number of records written.
    public var written = 0
    /// The number of records dropped, by level.
    public var dropped = DroppedLogRecords()

    /// Creates counts of zero.
    public init() {}
}

#endif
