#if Logging

internal import KeelCore
public import KeelJournal
public import KeelLogging
internal import Logging
internal import Synchronization

/// An output that stores records in a journal, from which they are shipped to a collector.
///
/// ```swift
/// let journal = try Journal(at: folder)
/// let output = OTLPLogOutput(journal)
/// let exporter = try OTLPLogExporter(journal, to: configuration, over: transport)
/// LoggingSystem.bootstrap { OTLPLogHandler(label: $0, output: output) }
/// await exporter.run()   // beside the rest of the app
/// ```
///
/// A record is in the journal before the log call returns: it survives any end of the process, and a later run ships
/// it. Log calls never wait for the network. Without a running exporter, records stay within the bounds of the journal.
///
/// A journal holds the records of one output only; KeelAnalytics needs a different folder.
public final class OTLPLogOutput: LogOutput {
    private struct State {
        var ids = RecordIDs()
        var random: any RandomNumberGenerator & Sendable
        var statistics = LogOutputStatistics()
        var unreported = DroppedLogRecords()

        mutating func nextID(at time: Int64) -> String {
            ids.next(at: time / 1000, using: &random).text
        }
    }

    private let journal: Journal
    private let state: Mutex<State>

    /// Creates an output.
    ///
    /// - Parameters:
    ///   - journal: The journal for the records.
    ///   - random: The generator for the random part of identifiers.
    public init(
        _ journal: Journal,
        random: any RandomNumberGenerator & Sendable = SystemRandomNumberGenerator()
    ) {
        self.journal = journal
        state = Mutex(State(random: random))
    }

    /// The counts so far; `written` counts the records in the journal.
    public var statistics: LogOutputStatistics { state.withLock { $0.statistics } }

    public func write(_ record: LogRecord) {
        let (gap, id) = state.withLock { state in
            var gap: (dropped: DroppedLogRecords, id: String)?
            if state.unreported.total > 0 {
                gap = (state.unreported, state.nextID(at: record.time))
                // Another thread that writes meanwhile must not report the same ones.
                state.unreported = DroppedLogRecords()
            }
            return (gap, state.nextID(at: record.time))
        }
        var untold = gap?.dropped ?? DroppedLogRecords()
        do throws(JournalError) {
            if let gap {
                let told = LogRecord.gap(
                    gap.dropped,
                    because: "the journal could not be written",
                    at: record.time
                )
                try journal.append(StoredLogRecord.bytes(of: told, id: gap.id))
                untold = DroppedLogRecords()
            }
            try journal.append(StoredLogRecord.bytes(of: record, id: id))
            state.withLock { $0.statistics.written += 1 }
        } catch {
            untold[record.level] += 1
            let dropped = untold
            state.withLock { state in
                state.statistics.dropped[record.level] += 1
                state.unreported.add(dropped)
            }
            LogMetrics.dropped(1, record.level, output: "journal")
        }
    }

    public func synchronize() { try? journal.sync() }
}

/// A handler that stores records in a journal, from which they are shipped to a collector.
public typealias OTLPLogHandler = OutputLogHandler<OTLPLogOutput>

#endif
