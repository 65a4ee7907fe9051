#if Logging

import KeelTestSupport
import KeelCore
import Logging
import Testing

@testable import KeelLogging

@Suite("Reading a log")
struct LogFileReaderTests {
    private let disk = SimulatedFileSystem()
    private let time = MutableTime(1_795_340_713_123_456)

    private func log(
        compresses: Bool = true,
        _ change: (inout LogFileConfiguration) -> Void = { _ in }
    ) throws -> RotatingLogFile {
        var configuration = LogFileConfiguration()
        configuration.compresses = compresses
        configuration.byteLimit = 1024
        change(&configuration)
        return try RotatingLogFile(
            at: "/logs/app.log",
            configuration,
            files: disk,
            worker: .immediate,
            now: { [time] in time.now }
        )
    }

    private func write(_ numbers: Range<Int>, to file: RotatingLogFile) {
        for number in numbers {
            file.write(.sample("\(number)", time: time.now))
            time.advance(by: 1000)
        }
    }

    private func reader(from start: LogFileReader.Start = .oldest) throws -> LogFileReader {
        try LogFileReader(at: "/logs/app.log", from: start, files: disk)
    }

    private func numbers(_ records: [LogRecord]) -> [Int] { records.compactMap { Int($0.message) } }

    @Test("A record is read as written, with nested values and every kind of character")
    func form() throws {
        var record = LogRecord.sample(
            "line\nbreak “quoted” \u{1} 😀 \\",
            level: .critical,
            fields: [
                LogField("a", .text("")), LogField("b", .list([.text("x"), .list([])])),
                LogField("c", .map([LogField("d", .text("\"")), LogField("e", .map([]))])),
            ]
        )
        record.line = 4711
        let line = LogFormat.jsonLines.bytes(of: record)
        #expect(LogRecord(jsonLine: line) == record)
        #expect(LogRecord(jsonLine: line.dropLast()) == record)
        #expect(LogRecord(jsonLine: line.dropLast(2)) == nil)
        #expect(LogRecord(jsonLine: Array("[INFO] text".utf8)) == nil)
        record.time = -1
        #expect(LogRecord(jsonLine: LogFormat.jsonLines.bytes(of: record))?.time == -1)
    }

    @Test("Rotated files are read first, compressed or not", arguments: [true, false])
    func all(isCompressed: Bool) throws {
        write(0..<200, to: try log(compresses: isCompressed))
        let names = try disk.names(in: "/logs").filter { $0.hasSuffix(".gz") }
        #expect(names.isEmpty != isCompressed)
        let reader = try reader()
        var found: [Int] = []
        while case let records = try reader.read(upTo: 7), !records.isEmpty {
            found += numbers(records)
        }
        #expect(found == Array(0..<200))
        #expect(reader.skippedLineCount == 0)
    }

    @Test("A reader follows across rotations", arguments: [true, false], [1, 3, 60])
    func follows(isCompressed: Bool, step: Int) throws {
        let file = try log(compresses: isCompressed)
        write(0..<5, to: file)
        let reader = try reader(from: .current)
        var (found, written) = ([Int](), 5)
        while written < 300 {
            found += numbers(try reader.read(upTo: 1000))
            write(written..<(written + step), to: file)
            written += step
        }
        while case let records = try reader.read(upTo: 9), !records.isEmpty {
            found += numbers(records)
        }
        #expect(found == Array(0..<written))
    }

    @Test(
        "A reader that misses rotations after a clock was years ahead reads all files",
        arguments: [true, false]
    )
    func clockAhead(isCompressed: Bool) throws {
        let file = try log(compresses: isCompressed)
        write(0..<1, to: file)
        let reader = try reader(from: .current)
        #expect(numbers(try reader.read(upTo: 9)) == [0])
        let years: Int64 = 3 * 365 * 86_400 * 1_000_000
        time.advance(by: years)
        file.rotate()
        time.advance(by: -years)
        write(1..<2, to: file)
        #expect(numbers(try reader.read(upTo: 9)) == [1])
        for number in 2..<5 {
            file.rotate()
            write(number..<(number + 1), to: file)
        }
        #expect(numbers(try reader.read(upTo: 9)) == [2, 3, 4])
        #expect(try reader.read(upTo: 9).isEmpty)
    }

    /// A disk whose lists of names are older than the compression of its files.
    private struct StaleLists: FileSystem {
        let disk: SimulatedFileSystem

        func names(in folder: String) throws(FileSystemError) -> [String] {
            try disk.names(in: folder).map { $0.hasSuffix(".gz") ? String($0.dropLast(3)) : $0 }
        }

        func makeFolder(_ path: String) throws(FileSystemError) { try disk.makeFolder(path) }
        func size(of path: String) throws(FileSystemError) -> Int? { try disk.size(of: path) }

        func open(_ path: String, for access: FileAccess) throws(FileSystemError) -> any OpenFile {
            try disk.open(path, for: access)
        }

        func rename(_ path: String, to newPath: String) throws(FileSystemError) {
            try disk.rename(path, to: newPath)
        }

        func remove(_ path: String) throws(FileSystemError) { try disk.remove(path) }
        func syncFolder(_ path: String) throws(FileSystemError) { try disk.syncFolder(path) }
        func lock(_ path: String) throws(FileSystemError) -> any FileLock { try disk.lock(path) }
    }

    @Test("A file that is compressed while the reader looks for it is read once")
    func compressedMeanwhile() throws {
        let file = try log()
        write(0..<1, to: file)
        let files = StaleLists(disk: disk)
        let reader = try LogFileReader(at: "/logs/app.log", from: .current, files: files)
        #expect(numbers(try reader.read(upTo: 9)) == [0])
        file.rotate()
        write(1..<2, to: file)
        #expect(numbers(try reader.read(upTo: 9)) == [1])
    }

    @Test("A reader whose file was removed by the limits reads all files that are left")
    func removedMeanwhile() throws {
        let file = try log { $0.countLimit = 2 }
        write(0..<1, to: file)
        let reader = try reader(from: .current)
        #expect(numbers(try reader.read(upTo: 9)) == [0])
        for number in 1..<4 {
            file.rotate()
            write(number..<(number + 1), to: file)
        }
        let names = try disk.names(in: "/logs").filter { $0.hasPrefix("app-") }
        #expect(names.count == 2 && names.allSatisfy { $0.hasSuffix(".gz") })
        #expect(numbers(try reader.read(upTo: 9)) == [1, 2, 3])
        #expect(try reader.read(upTo: 9).isEmpty)
    }

    @Test("A call that fails leaves out no line and repeats none")
    func failingCalls() throws {
        let file = try log(compresses: false)
        write(0..<1, to: file)
        let reader = try reader(from: .current)
        #expect(numbers(try reader.read(upTo: 9)) == [0])
        for number in 1..<3 {
            file.rotate()
            write(number..<(number + 1), to: file)
        }
        disk.fail { call in if case .names = call { FileSystemError.inputOutput } else { nil } }
        #expect(throws: LoggingError.self) { try reader.read(upTo: 9) }
        disk.fail { call in if case .open = call { FileSystemError.inputOutput } else { nil } }
        #expect(throws: LoggingError.self) { try reader.read(upTo: 9) }
        disk.fail(nil)
        #expect(numbers(try reader.read(upTo: 9)) == [1, 2])
        #expect(try reader.read(upTo: 9).isEmpty)
    }

    @Test("Records before a rotated file that cannot be opened are returned")
    func unreadableFile() throws {
        let file = try log(compresses: false)
        for number in 0..<3 {
            write(number..<(number + 1), to: file)
            file.rotate()
        }
        let names = try disk.names(in: "/logs").filter { $0.hasPrefix("app-") }.sorted()
        let unreadable = try #require(names.dropFirst().first)
        let reader = try reader()
        disk.fail { $0 == .open("/logs/" + unreadable) ? FileSystemError.notPermitted : nil }
        #expect(numbers(try reader.read(upTo: 9)) == [0])
        expectError(LoggingError.self, .permissionDenied) { try reader.read(upTo: 9) }
        disk.fail(nil)
        #expect(numbers(try reader.read(upTo: 9)) == [1, 2])
    }

    @Test("Lines that a process adds to a file rotated by another are read too")
    func lateLines() throws {
        let (one, other) = (
            try log(compresses: false) { $0.byteLimit = 16_384 },
            try log(compresses: false) { $0.byteLimit = 16_384 }
        )
        let reader = try reader(from: .current)
        write(0..<1, to: one)
        write(1..<2, to: other)
        #expect(numbers(try reader.read(upTo: 9)) == [0, 1])
        one.rotate()
        write(2..<3, to: one)
        #expect(numbers(try reader.read(upTo: 9)) == [2])
        write(3..<4, to: other)
        #expect(other.statistics.reopenings == 0)
        #expect(numbers(try reader.read(upTo: 9)) == [3])
        time.advance(by: RotatingLogFile.checkInterval)
        write(4..<5, to: other)
        #expect(other.statistics.reopenings == 1)
        #expect(numbers(try reader.read(upTo: 9)) == [4])
    }

    @Test("Lines that a process adds to a file rotated before the reader began are read too")
    func lateLinesOfRotatedFile() throws {
        let (one, other) = (
            try log(compresses: false) { $0.byteLimit = 16_384 },
            try log(compresses: false) { $0.byteLimit = 16_384 }
        )
        write(0..<1, to: one)
        one.rotate()
        write(1..<2, to: one)
        let reader = try reader()
        #expect(numbers(try reader.read(upTo: 9)) == [0, 1])
        write(2..<3, to: other)
        #expect(other.statistics.reopenings == 0)
        #expect(numbers(try reader.read(upTo: 9)) == [2])
    }

    @Test("A line is returned when it is complete, and invalid lines are counted")
    func partial() throws {
        let line = LogFormat.jsonLines.bytes(of: .sample("1"))
        let begin = Array("no record\n".utf8) + line.dropLast(9)
        let file = try disk.open("/logs/app.log", for: .creating)
        try file.write(begin, at: 0)
        let reader = try reader()
        #expect(try reader.read(upTo: 9) == [])
        #expect(reader.skippedLineCount == 1)
        try file.write(Array(line.suffix(9)), at: begin.count)
        #expect(numbers(try reader.read(upTo: 9)) == [1])
        #expect(try reader.read(upTo: 9) == [])
    }

    @Test("A truncated compressed file returns its complete lines, and the next file follows")
    func cutOff() throws {
        let file = try log()
        write(0..<60, to: file)
        let names = try disk.names(in: "/logs").filter { $0.hasSuffix(".gz") }.sorted()
        let (first, second) = ("/logs/" + names[0], "/logs/" + names[1])
        let damaged = try disk.open(first, for: .writing)
        try damaged.truncate(to: try damaged.size() - 40)
        let found = numbers(try reader().read(upTo: 1000))
        #expect(found == found.sorted() && found.last == 59 && found.count < 60)
        let whole = try LoggedLines.inflated(try #require(disk.disk[second]))
        #expect(Set(found).isSuperset(of: try LoggedLines.messages([whole]).compactMap { Int($0) }))
    }

    @Test("Reading a missing log throws")
    func nothing() throws { expectError(LoggingError.self, .notFound) { try reader() } }
}

#endif
