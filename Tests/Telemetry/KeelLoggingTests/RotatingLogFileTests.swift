#if Logging

import KeelTestSupport
import KeelCore
import KeelTestKit
import Logging
import Testing

@testable import KeelLogging

@Suite("Rotating log file")
struct RotatingLogFileTests {
    private let disk = SimulatedFileSystem()
    private let time = MutableTime(1_795_340_713_123_456)

    private func open(
        _ files: SimulatedFileSystem? = nil,
        _ change: (inout LogFileConfiguration) -> Void = { _ in }
    ) throws -> RotatingLogFile {
        var configuration = LogFileConfiguration()
        configuration.compresses = false
        change(&configuration)
        return try RotatingLogFile(
            at: "/logs/app.log",
            configuration,
            files: files ?? disk,
            worker: .immediate,
            now: { [time] in time.now }
        )
    }

    private func write(_ file: RotatingLogFile, _ message: String, level: Logger.Level = .info) {
        file.write(.sample(message, level: level, time: time.now))
        time.advance(by: 1000)
    }

    /// The messages of all files, oldest first, and the names of the files.
    private func messages(_ files: SimulatedFileSystem? = nil) throws -> [String] {
        let left = files ?? disk
        return try LoggedLines.messages(
            try names(left).map { name in try #require(left.disk["/logs/" + name]) }
        )
    }

    private func names(_ files: SimulatedFileSystem? = nil) throws -> [String] {
        try (files ?? disk).names(in: "/logs").filter { !$0.hasPrefix(".") }
            .sorted { ($0 == "app.log" ? "z" : $0) < ($1 == "app.log" ? "z" : $1) }
    }

    @Test("A file is rotated before it exceeds its limit, and named after the time")
    func size() throws {
        let file = try open { $0.byteLimit = 1024 }
        for number in 0..<20 { write(file, "record \(number)") }
        #expect(try messages() == (0..<20).map { "record \($0)" })
        let names = try names()
        #expect(names.count > 2)
        #expect(names.first?.hasPrefix("app-20261122T094513.") == true)
        for name in names { #expect((disk.disk["/logs/" + name]?.count ?? 0) <= 1024) }
        #expect(file.statistics.rotations == names.count - 1)
        #expect(file.statistics.written == 20)
    }

    @Test("A record longer than the limit gets its own file, untruncated")
    func longRecord() throws {
        let file = try open { $0.byteLimit = 1024 }
        let long = String(repeating: "x", count: 5000)
        for text in ["a", long, "b"] { write(file, text) }
        #expect(try messages() == ["a", long, "b"])
        #expect(try names().count == 3)
    }

    @Test("A new period starts a new file, also after a restart")
    func period() throws {
        let file = try open { $0.period = .hour }
        write(file, "9:45")
        time.advance(by: 15 * 60 * 1_000_000)
        write(file, "10:00")
        time.advance(by: 59 * 60 * 1_000_000)
        write(file, "10:59")
        time.advance(by: 24 * 3600 * 1_000_000)
        write(file, "next day")
        #expect(try names().count == 3)
        #expect(try messages() == ["9:45", "10:00", "10:59", "next day"])
    }

    @Test("A clock that is years ahead for a while does not put off the periods after it")
    func periodAfterLeap() throws {
        let file = try open { $0.period = .hour }
        write(file, "9:45")
        let years: Int64 = 3 * 365 * 86_400 * 1_000_000
        time.advance(by: years)
        write(file, "years ahead")
        time.advance(by: -years)
        write(file, "9:46")
        #expect(file.statistics.rotations == 1)
        time.advance(by: 3_600 * 1_000_000)
        write(file, "10:46")
        #expect(file.statistics.rotations == 2)
    }

    @Test("A restarted process continues its previous file")
    func restart() throws {
        var file = try open { $0.byteLimit = 1024 }
        write(file, "a")
        file = try open { $0.byteLimit = 1024 }
        for number in 0..<10 { write(file, "\(number)") }
        #expect(try messages() == ["a"] + (0..<10).map { "\($0)" })
        #expect((disk.disk["/logs/app.log"]?.count ?? 0) <= 1024)
    }

    @Test("A killed process's torn line is ended before the next record")
    func torn() throws {
        let first = try open()
        write(first, "whole")
        let steps = disk.steps.count
        write(first, "torn")
        let left = SimulatedFileSystem(disk.disk(afterKillAt: steps, torn: 40))
        let file = try open(left)
        write(file, "next")
        let lines = try #require(left.disk["/logs/app.log"]).split(separator: 0x0A)
        try #require(lines.count == 3)
        #expect(try LoggedLines.message(Array(lines[0])) == "whole")
        #expect(lines[1].count == 40)
        #expect(try LoggedLines.message(Array(lines[2])) == "next")
    }

    @Test("A line that another process has torn in a new file is ended before the next record")
    func tornByAnother() throws {
        let file = try open()
        write(file, "a")
        try disk.rename("/logs/app.log", to: "/logs/app-20261122T094514.000000Z.log")
        // As left by a process that had a full disk, or was killed.
        let other = try disk.open("/logs/app.log", for: .creating)
        try other.write(Array(#"{"time":"#.utf8), at: 0)
        time.advance(by: RotatingLogFile.checkInterval)
        write(file, "b")
        let lines = try #require(disk.disk["/logs/app.log"]).split(separator: 0x0A)
        try #require(lines.count == 2)
        #expect(try LoggedLines.message(Array(lines[1])) == "b")
    }

    @Test("A removed file is created again, and a renamed one stays complete")
    func removed() throws {
        let file = try open()
        write(file, "a")
        time.advance(by: RotatingLogFile.checkInterval)
        try disk.remove("/logs/app.log")
        write(file, "b")
        time.advance(by: RotatingLogFile.checkInterval)
        try disk.rename("/logs/app.log", to: "/logs/old")
        write(file, "c")
        #expect(try LoggedLines.messages([#require(disk.disk["/logs/old"])]) == ["b"])
        #expect(try LoggedLines.messages([#require(disk.disk["/logs/app.log"])]) == ["c"])
        #expect(file.statistics.reopenings == 2)
    }

    @Test("On a full disk records are dropped, counted, and reported when there is space")
    func fullDisk() throws {
        let file = try open()
        write(file, "a")
        disk.limit(to: disk.disk.byteCount + 50)
        write(file, "b", level: .debug)
        write(file, "c", level: .error)
        #expect(file.statistics.dropped[.debug] == 1)
        #expect(file.statistics.dropped.total == 2)
        disk.limit(to: nil)
        write(file, "d")
        let lines = try #require(disk.disk["/logs/app.log"]).split(separator: 0x0A)
        let read = lines.map { try? LoggedLines.message(Array($0)) }
        // The torn line stands alone; nothing that follows is lost.
        #expect(read.compactMap(\.self).first == "a")
        #expect(
            read.suffix(2) == ["dropped 2 log records: the log file could not be written", "d"]
        )
        let gap = String(decoding: lines[lines.count - 2], as: UTF8.self)
        #expect(gap.contains(#""log.dropped":"2","log.dropped.debug":"1","log.dropped.error":"1""#))
        write(file, "e")
        #expect(try LoggedLines.message(Array(#require(lastLine()))) == "e")
    }

    private func lastLine() -> [UInt8]? {
        disk.disk["/logs/app.log"]?.split(separator: 0x0A).last.map(Array.init)
    }

    @Test("If rotation fails, the old file continues and nothing is lost")
    func failingRotation() throws {
        let file = try open { $0.byteLimit = 1024 }
        disk.fail { call in
            if case .rename = call { FileSystemError.notPermitted } else { nil }
        }
        for number in 0..<20 { write(file, "\(number)") }
        #expect(try messages() == (0..<20).map { "\($0)" })
        #expect(try names() == ["app.log"])
        disk.fail(nil)
        time.advance(by: RotatingLogFile.checkInterval)
        write(file, "20")
        #expect(try names().count == 2)
        #expect(try messages() == (0...20).map { "\($0)" })
    }

    @Test("Rotated file names are unique, even if the clock stands still")
    func sameTime() throws {
        let file = try open { $0.byteLimit = 1024 }
        for number in 0..<40 { file.write(.sample("record \(number)", time: time.now)) }
        #expect(try messages() == (0..<40).map { "record \($0)" })
        #expect(try names().count > 4)
    }

    @Test("The limits on count, total bytes and age hold, and the oldest files go first")
    func limits() throws {
        let counted = try open {
            $0.byteLimit = 1024
            $0.countLimit = 3
        }
        for number in 0..<60 { write(counted, "record \(number)") }
        #expect(try names().count == 4)
        #expect(try messages().last == "record 59")

        let other = SimulatedFileSystem()
        let limited = try open(other) {
            $0.byteLimit = 1024
            $0.totalByteLimit = 5000
        }
        for number in 0..<200 {
            write(limited, "record \(number)")
            // Until the next check, the limit may be exceeded by one file.
            #expect(other.disk.byteCount <= 5000 + 1024)
        }
        limited.waitForMaintenance()
        #expect(other.disk.byteCount <= 5000)
        #expect(try messages(other).last == "record 199")

        let third = SimulatedFileSystem()
        let aged = try open(third) {
            $0.byteLimit = 1024
            $0.ageLimit = .seconds(3600)
        }
        for number in 0..<20 { write(aged, "record \(number)") }
        time.advance(by: 2 * 3600 * 1_000_000)
        aged.waitForMaintenance()
        // The time becomes certain a quarter of the limit later.
        time.advance(by: 900 * 1_000_000)
        aged.waitForMaintenance()
        #expect(try names(third) == ["app.log"])
    }

    @Test("A clock that is years ahead for a while removes no file for its age")
    func leaps() throws {
        let file = try open {
            $0.byteLimit = 1024
            $0.totalByteLimit = nil
            $0.ageLimit = .seconds(14 * 86_400)
        }
        for number in 0..<20 { write(file, "record \(number)") }
        let before = try names()
        let twentyYears: Int64 = 20 * 365 * 86_400 * 1_000_000
        time.advance(by: twentyYears)
        file.waitForMaintenance()
        time.advance(by: 2 * 3600 * 1_000_000 - twentyYears)
        file.waitForMaintenance()
        time.advance(by: twentyYears)
        file.waitForMaintenance()
        #expect(try names() == before)
    }

    @Test("Files with other names are left alone")
    func others() throws {
        for name in ["app-notes.log", "app-20261122T094513.123456Z.txt", "other.log", "app.log.1"] {
            _ = try disk.open("/logs/" + name, for: .creating)
        }
        let file = try open {
            $0.byteLimit = 1024
            $0.countLimit = 0
        }
        for number in 0..<20 { write(file, "record \(number)") }
        file.waitForMaintenance()
        #expect(try names().count == 5)
    }

    @Test("A critical record survives any power failure once its call has returned")
    func critical() throws {
        var random = SeededRandom(seed: 3)
        for records in 1...12 {
            let files = SimulatedFileSystem()
            let file = try open(files) { $0.byteLimit = 1024 }
            let handler = RotatingFileLogHandler(label: "app", output: file, level: .trace)
            let logger = Logger(label: "app") { _ in handler }
            for number in 0..<records { logger.info("record \(number)") }
            logger.logFatal("the last words")
            for _ in 0..<20 {
                let left = files.disk(afterPowerFailureAt: files.steps.count, using: &random)
                let all = left.paths.keys.compactMap { left[$0] }
                let text = all.map { String(decoding: $0, as: UTF8.self) }.joined()
                #expect(text.contains("the last words"))
            }
        }
    }

    @Test("Other records are not synchronized, and repeated synchronizing syncs the disk once")
    func synchronizing() throws {
        let file = try open()
        write(file, "a")
        func syncs() -> Int { disk.steps.count { if case .sync = $0 { true } else { false } } }
        #expect(syncs() == 0)
        file.synchronize()
        file.synchronize()
        #expect(syncs() == 1)
    }

    @Test(
        "Invalid limits are rejected",
        arguments: [
            { $0.byteLimit = 1023 }, { $0.period = .seconds(0) }, { $0.countLimit = -1 },
            { $0.totalByteLimit = 1024 }, { $0.ageLimit = .zero },
        ] as [@Sendable (inout LogFileConfiguration) -> Void]
    )
    func configuration(_ change: @Sendable (inout LogFileConfiguration) -> Void) {
        expectError(LoggingError.self, .invalidArgument) { _ = try open(nil, change) }
    }

    @Test("A folder without write permission is reported when the file is opened")
    func notPermitted() {
        disk.fail { _ in FileSystemError.notPermitted }
        expectError(LoggingError.self, .permissionDenied) { _ = try open() }
    }
}

extension LogWorker {
    /// Does the work in the call that starts it.
    static let immediate = LogWorker(begin: { $0() }, wait: {})
}

#endif
