#if Logging

import KeelLogging
import Logging
import Synchronization

/// An output that keeps its records in memory.
final class MemoryLogOutput: LogOutput {
    private let state = Mutex<(records: [LogRecord], synchronized: Int)>(([], 0))

    var records: [LogRecord] { state.withLock { $0.records } }
    var synchronizedCount: Int { state.withLock { $0.synchronized } }

    func write(_ record: LogRecord) { state.withLock { $0.records.append(record) } }
    func synchronize() { state.withLock { $0.synchronized += 1 } }
}

/// Returns a logger that writes to an output, from `trace` on.
func logger(
    to output: some LogOutput,
    recorder: LogRecorder = LogRecorder(),
    label: String = "test"
) -> Logger {
    Logger(label: label) {
        OutputLogHandler(label: $0, output: output, level: .trace, recorder: recorder)
    }
}

extension LogRecord {
    static func sample(
        _ message: String = "hello",
        level: Logger.Level = .info,
        time: Int64 = 1_795_340_713_123_456,
        fields: [LogField] = []
    ) -> LogRecord {
        LogRecord(
            time: time,
            level: level,
            label: "test",
            message: message,
            fields: fields,
            source: "App",
            file: "App/Home.swift",
            function: "load()",
            line: 12
        )
    }
}

#endif
