#if os(Linux) || os(macOS)
import Foundation
import KeelFiles
import KeelTestSupport
import Testing

/// A test that kills processes which write, move and delete files, at random moments.
@Suite("Process kills during use of a local store", .timeLimit(.minutes(30)))
struct KillTests {
    /// The number of kills, which `KEEL_KILLS` overrides.
    private static let killCount = TestLength.count("KEEL_KILLS", 10, thorough: 25)

    @Test("kill -9 at random moments: files are complete, acknowledged ones exist, and no others")
    func kills() async throws {
        let scratch = try TemporaryFolder()
        var last = 0
        for trial in 0..<Self.killCount {
            let life: [Int]? = try await CrashTrial.run(
                "KeelFileCrashWriter",
                [scratch.path, "\(last + 1)"],
                killedAfter: .microseconds(Int.random(in: 0...20_000)),
                waitsForLife: trial % 5 != 0
            )
            let told = try #require(life, "the writer ended by itself")
            #expect(told == Array((last + 1)..<(last + 1 + told.count)))
            last += told.count
            try await check(scratch.path, last)
        }
        // Killing processes before they have written anything would prove nothing.
        #expect(last > Self.killCount / 2)
        print("\(Self.killCount) kills, \(last) rounds, all files whole")
    }

    /// Checks the files after a kill: the complete round `last`, and any part of the next one, which the next process
    /// repeats.
    private func check(_ folder: String, _ last: Int) async throws {
        let files = FileStore(try LocalFileStoreAdapter(folder: folder))
        let leftovers = try FileManager.default.contentsOfDirectory(
            atPath: folder + "/.keel-files/new"
        )
        #expect(leftovers.isEmpty)
        for try await file in files.files() {
            let bytes = try await Array(files.read(file.path))
            let number = try #require(
                Int(String(decoding: bytes.prefix { $0 != UInt8(ascii: ";") }, as: UTF8.self))
            )
            #expect(bytes == Self.content(number), "\(file.path)")
            #expect((last - 19...last + 1).contains(number), "\(file.path)")
        }
        if last > 0 {
            let same = try await Array(files.read("same"))
            #expect([last, last + 1].contains { Self.content($0) == same })
            for number in max(1, last - 18)...last {
                #expect(try await files.exists("kept/\(number)"), "\(number)")
            }
        }
    }

    private static func content(_ number: Int) -> [UInt8] {
        let text = Array("\(number);".utf8)
        return (0..<(1 + number % 40 * 997)).flatMap { _ in text }
    }
}
#endif
