#if Logging

import KeelTestSupport
import KeelCore
import Synchronization
import Testing

@testable import KeelLogging

@Suite("Rotated log files")
struct LogFileMaintenanceTests {
    private func open(
        _ files: SimulatedFileSystem,
        byteLimit: Int = 1024
    ) throws -> RotatingLogFile {
        var configuration = LogFileConfiguration()
        configuration.byteLimit = byteLimit
        return try RotatingLogFile(
            at: "/logs/app.log",
            configuration,
            files: files,
            worker: .immediate
        )
    }

    private func write(_ numbers: Range<Int>, to file: RotatingLogFile) {
        for number in numbers {
            file.write(.sample("record \(number)", time: 1_795_340_713_000_000 + Int64(number)))
        }
    }

    /// The messages for a reader that prefers a compressed file to its original.
    private func messages(_ files: SimulatedFileSystem) throws -> [String] {
        let names = Set(
            try files.names(in: "/logs").filter { !$0.hasPrefix(".") && !$0.hasSuffix(".part") }
        )
        let plain = names.filter { !$0.hasSuffix(".gz") && !names.contains($0 + ".gz") }
        let chosen = names.filter { $0.hasSuffix(".gz") }.union(plain)
        return try chosen.sorted { ($0 == "app.log" ? "z" : $0) < ($1 == "app.log" ? "z" : $1) }
            .flatMap { name in
                let bytes = try #require(files.disk["/logs/" + name])
                let text = name.hasSuffix(".gz") ? try LoggedLines.inflated(bytes) : bytes
                return try LoggedLines.messages([text])
            }
    }

    @Test("Rotated files are compressed, and any gzip reader reads them")
    func compressing() throws {
        let files = SimulatedFileSystem()
        let file = try open(files)
        write(0..<40, to: file)
        let names = try files.names(in: "/logs").filter { !$0.hasPrefix(".") }
        #expect(names.count > 4)
        #expect(names.allSatisfy { $0 == "app.log" || $0.hasSuffix("Z.log.gz") })
        #expect(try messages(files) == (0..<40).map { "record \($0)" })
    }

    @Test("A kill at any step loses and duplicates nothing, and the next start completes the work")
    func kills() throws {
        let files = SimulatedFileSystem()
        let file = try open(files)
        write(0..<30, to: file)
        let count = files.steps.count
        #expect(count > 40)
        for step in 0...count {
            for torn in [0, 7] {
                let left = SimulatedFileSystem(files.disk(afterKillAt: step, torn: torn))
                let written = files.steps.prefix(step).count {
                    guard case .write(_, _, let bytes) = $0 else { return false }
                    return bytes.starts(with: "{".utf8)
                }
                let again = try open(left)
                again.write(.sample("after"))
                again.waitForMaintenance()
                let lines = try left.names(in: "/logs")
                #expect(!lines.contains { $0.hasSuffix(".part") }, "step \(step)")
                guard torn == 0 else { continue }
                #expect(
                    try messages(left) == (0..<written).map { "record \($0)" } + ["after"],
                    "step \(step)"
                )
            }
        }
    }

    @Test("A file that another process still writes to is not compressed")
    func stillWritten() throws {
        let files = SimulatedFileSystem()
        // The other process has the file open and has not noticed the rotation.
        let other = try open(files, byteLimit: 4096)
        write(0..<1, to: other)
        let file = try open(files, byteLimit: 4096)
        write(1..<40, to: file)
        let first = try #require(try files.names(in: "/logs").filter { $0.hasPrefix("app-") }.min())
        #expect(!first.hasSuffix(".gz"))
        other.write(.sample("late", time: 1_795_340_713_000_002))
        file.waitForMaintenance()
        #expect(try LoggedLines.messages([#require(files.disk["/logs/" + first])]).last == "late")
        // Once it checks, it closes the old file, which can then be compressed.
        other.write(.sample("last", time: 1_795_340_714_000_000))
        file.waitForMaintenance()
        #expect(!(try files.names(in: "/logs").contains(first)))
        #expect(try Set(messages(files)).isSuperset(of: ["record 0", "late", "last", "record 39"]))
    }

    @Test("Waiting for maintenance completes it although the thread that begins it is late")
    func lateBeginning() throws {
        let files = SimulatedFileSystem()
        let waiting = Mutex<RotatingLogFile?>(nil)
        let found = Mutex([String]())
        let late = LogWorker(
            begin: { work in
                // The first thread has rotated the file here, and has not reached the worker.
                let file = waiting.withLock { $0.take() }
                if let file {
                    file.waitForMaintenance()
                    let names = try? files.names(in: "/logs")
                    found.withLock { $0 = names ?? [] }
                }
                work()
            },
            wait: {}
        )
        let file = try RotatingLogFile(
            at: "/logs/app.log",
            LogFileConfiguration(),
            files: files,
            worker: late
        )
        write(0..<1, to: file)
        waiting.withLock { $0 = file }
        file.rotate()
        let names = found.withLock { $0 }
        #expect(names.contains { $0.hasSuffix(".gz") }, "\(names)")
    }

    @Test("The limits hold on a disk without room for compressed files")
    func fullDisk() throws {
        let files = SimulatedFileSystem()
        var configuration = LogFileConfiguration()
        configuration.countLimit = 2
        let file = try RotatingLogFile(
            at: "/logs/app.log",
            configuration,
            files: files,
            worker: .immediate
        )
        files.fail { call in
            if case .write(let path) = call, path.hasSuffix(".part") {
                FileSystemError.noSpace
            } else {
                nil
            }
        }
        for number in 0..<5 {
            write(number..<(number + 1), to: file)
            file.rotate()
        }
        let kept = try messages(files)
        #expect(kept == ["record 3", "record 4"])
        #expect(!(try files.names(in: "/logs").contains { $0.hasSuffix(".part") }))
    }

    @Test("Only one process at a time maintains the files")
    func oneAtATime() throws {
        let files = SimulatedFileSystem()
        let lock = try files.lock("/logs/.app.log.work.lock")
        let file = try open(files)
        write(0..<20, to: file)
        #expect(!(try files.names(in: "/logs").contains { $0.hasSuffix(".gz") }))
        withExtendedLifetime(lock) {}
    }

    @Test("File names of all kinds are parsed")
    func names() {
        let names = LogFileNames("/var/log/my.app.log")
        #expect(names.folder == "/var/log")
        #expect(names.rotated(at: 0) == "my.app-19700101T000000.000000Z.log")
        #expect(LogFileNames("app").rotated(at: 0) == "app-19700101T000000.000000Z")
        #expect(LogFileNames("app").path == "./app")
        #expect(LogFileNames("/app.log").lock == "/.app.log.lock")
        let found = names.rotated(among: [
            "my.app-19700101T000000.000001Z.log.gz", "my.app-19700101T000000.000000Z.log",
            "my.app-19700101T000000.000000Z.log.gz", "my.app-19700101T000000Z.log", "my.app.log",
            "my.app-19700101T000000.000000Z.log.gz.part", "my.app-x.log",
        ])
        #expect(found.map(\.hasPlain) == [true, false])
        #expect(found.map(\.hasCompressed) == [true, true])
    }
}

#endif
