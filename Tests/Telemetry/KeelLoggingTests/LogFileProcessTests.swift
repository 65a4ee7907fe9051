#if Logging && (os(Linux) || os(macOS))

import Foundation
import KeelLogging
import KeelTestSupport
import Testing

/// Real processes that write to real files and are killed.
@Suite("A log file shared by several processes", .serialized)
struct LogFileProcessTests {
    private let folder = URL.temporaryDirectory.appending(path: "keel-log-\(UUID().uuidString)")

    /// `KEEL_LOG_ROTATIONS` sets the length of the run.
    private static let rotations = TestLength.count("KEEL_LOG_ROTATIONS", 2_500, thorough: 10_000)

    private func arguments(
        _ first: Int,
        _ count: Int,
        byteLimit: Int,
        compresses: Bool = false,
        _ mode: String
    ) -> [String] {
        [
            folder.appending(path: "app.log").path, "\(first)", "\(count)", "\(byteLimit)",
            compresses ? "1" : "0", mode,
        ]
    }

    /// The numbers of all records, and the count of torn lines.
    private func records() throws -> (numbers: [Int], torn: Int, files: Int) {
        var (numbers, torn): ([Int], Int) = ([], 0)
        let names = try FileManager.default.contentsOfDirectory(atPath: folder.path)
            .filter { !$0.hasPrefix(".") && !$0.hasSuffix(".part") }
        for name in names {
            var bytes = Array(try Data(contentsOf: folder.appending(path: name)))
            if name.hasSuffix(".gz") { bytes = try LoggedLines.inflated(bytes) }
            for line in bytes.split(separator: 0x0A) {
                // Faster than a JSON decoder, which would take minutes.
                let text = String(decoding: line, as: UTF8.self)
                guard text.hasPrefix(#"{"time":""#), text.hasSuffix("}"),
                    let start = text.range(of: #""message":"record "#)?.upperBound,
                    let number = Int(text[start...].prefix { $0 != "\"" })
                else {
                    torn += 1
                    continue
                }
                numbers.append(number)
            }
        }
        return (numbers, torn, names.count)
    }

    @Test("kill -9 after 20,000 records loses none")
    func killAfter() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        let printed: [Int]? = try await CrashTrial.run(
            "KeelLogCrashWriter",
            arguments(0, 20_000, byteLimit: 1 << 20, "last"),
            killedAfter: .zero,
            waitsForLife: true
        )
        #expect(printed == [19_999])
        let left = try records()
        #expect(left.numbers.sorted() == Array(0..<20_000))
        #expect(left.torn == 0)
    }

    @Test("kill -9 at random moments, also during rotations, loses no written record")
    func kills() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        var (next, promised) = (0, Set<Int>())
        for trial in 0..<300 {
            // On a busy machine lives are short, so more of them run until enough is written.
            if trial >= 30, promised.count > 500 { break }
            let life: [Int]? = try await CrashTrial.run(
                "KeelLogCrashWriter",
                arguments(next, 1_000_000, byteLimit: 2048, compresses: true, "each"),
                killedAfter: .microseconds(Int.random(in: 500...20_000)),
                waitsForLife: true
            )
            let printed = try #require(life, "the writer ended by itself")
            promised.formUnion(printed)
            next = (printed.last ?? next) + 2
            let (numbers, torn, _) = try records()
            let lost = promised.subtracting(numbers)
            #expect(lost.isEmpty, "trial \(trial): \(lost.sorted().prefix(5))")
            #expect(torn == 0, "trial \(trial)")
        }
        #expect(promised.count > 500)
    }

    @Test("Two processes with thousands of rotations lose, duplicate and tear no record")
    func rotating() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        // A file of 1 KiB holds three records.
        let count = Self.rotations * 8 / 5
        var next = 0
        var left: (numbers: [Int], torn: Int, files: Int)
        repeat {
            // Where the disk is slow, a process may not get the lock in time. It then rotates nothing for a while, so
            // that others follow until there are enough rotations.
            try await run([
                arguments(next, count, byteLimit: 1024, "end"),
                arguments(next + count, count, byteLimit: 1024, "end"),
            ])
            next += 2 * count
            left = try records()
        } while left.files <= Self.rotations && next < 20 * count
        #expect(left.numbers.sorted() == Array(0..<next))
        #expect(left.torn == 0)
        #expect(left.files > Self.rotations)
        print("\(left.files - 1) rotations, \(left.numbers.count) records, none lost or torn")
    }

    @Test("Two processes that also compress lose, duplicate and tear no record")
    func compressing() async throws {
        defer { try? FileManager.default.removeItem(at: folder) }
        try await run([
            arguments(0, 2000, byteLimit: 8192, compresses: true, "end"),
            arguments(2000, 2000, byteLimit: 8192, compresses: true, "end"),
        ])
        let left = try records()
        #expect(left.numbers.sorted() == Array(0..<4000))
        #expect(left.torn == 0)
    }

    /// Runs writers concurrently until they exit.
    private func run(_ all: [[String]]) async throws {
        try await withThrowingTaskGroup { group in
            for arguments in all {
                group.addTask {
                    let program = try CrashTrial.program("KeelLogCrashWriter")
                    let run = try await ProgramRun(program, arguments)
                    #expect(run.exitCode == 0, "\(run.errors)")
                }
            }
            try await group.waitForAll()
        }
    }
}

#endif
