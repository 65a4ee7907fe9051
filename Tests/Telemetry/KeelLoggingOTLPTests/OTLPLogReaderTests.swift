#if Logging

import KeelTestSupport
import KeelCore
import KeelJournal
import KeelLogging
import Logging
import Testing

@testable import KeelLoggingOTLP

@Suite("Reading logs from a journal")
struct OTLPLogReaderTests {
    private let files = SimulatedFileSystem()

    private func journal() throws -> Journal {
        try Journal(at: "/journal", configuration: JournalConfiguration(), files: files)
    }

    private func reader() throws -> OTLPLogReader {
        try OTLPLogReader(JournalInspection(of: "/journal", sealing: nil, files: files))
    }

    private func record(_ message: String, _ fields: [LogField] = []) -> LogRecord {
        LogRecord(
            time: 1_795_340_713_123_456,
            level: .notice,
            label: "app",
            message: message,
            fields: fields,
            source: "App",
            file: "App/Home.swift",
            function: "load()",
            line: 12
        )
    }

    @Test("Records are read as they were logged, with levels and nested values")
    func form() throws {
        let output = OTLPLogOutput(try journal())
        var records = Logger.Level.allCases.map { level in
            var record = record("level \(level)")
            record.level = level
            return record
        }
        records.append(
            record(
                "é\n\"𝄞",
                [
                    LogField("a", .text("")), LogField("list", .list([.text("x"), .list([])])),
                    LogField("map", .map([LogField("y", .map([])), LogField("z", .text("1"))])),
                    LogField("span_id", .text("00f067aa0ba902b7")),
                    LogField("trace_id", .text("4bf92f3577b34da6a3ce929d0e0e4736")),
                ]
            )
        )
        for record in records { output.write(record) }
        var reader = try reader()
        #expect(try reader.read(upTo: 3) == Array(records.prefix(3)))
        #expect(try reader.read(upTo: 100) == Array(records.dropFirst(3)))
        #expect(try reader.read(upTo: 100) == [])
        output.write(record("later"))
        #expect(try reader.read(upTo: 100).map(\.message) == ["later"])
    }

    @Test("Entries that are not log records are counted and skipped")
    func foreign() throws {
        let journal = try journal()
        try journal.append([])
        try journal.append([9, 9, 9])
        OTLPLogOutput(journal).write(record("known"))
        var reader = try reader()
        #expect(try reader.read(upTo: 1).map(\.message) == ["known"])
        #expect(reader.skippedRecordCount == 2)
    }
}

#endif
