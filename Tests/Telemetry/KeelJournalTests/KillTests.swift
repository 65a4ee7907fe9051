import Foundation
import KeelJournal
import KeelTestSupport
import Testing

/// Kills a writing process at random moments, and checks what it leaves.
@Suite("Process kills during writes to a journal", .serialized)
struct KillTests {
    /// `KEEL_KILLS` sets the length of the run.
    private static let killCount = TestLength.count("KEEL_KILLS", 40, thorough: 200)

    @Test("kill -9 at random moments loses no appended record and returns no acknowledged one")
    func kills() async throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        var waiting: Set<Int> = []
        var next = 1
        var appended = 0
        for trial in 0..<10 * Self.killCount {
            // On a busy machine lives are short, so more of them run until enough is written.
            if trial >= Self.killCount, appended > Self.killCount { break }
            let life: [Int]? = try await CrashTrial.run(
                "KeelJournalCrashWriter",
                [folder.path, String(next), "reader"],
                killedAfter: .microseconds(Int.random(in: 200...8_000)),
                waitsForLife: !trial.isMultiple(of: 7)
            )
            let printed = try #require(life, "the writer ended by itself")
            let written = printed.filter { $0 > 0 && $0 < 1_000_000_000 }
            let acknowledged = Set(printed.filter { $0 < 0 }.map(-))
            let begun = Set(printed.filter { $0 > 1_000_000_000 }.map { $0 - 1_000_000_000 })
            appended += written.count
            waiting.formUnion(written)
            next = (written.last ?? next - 1) + 1

            var configuration = JournalConfiguration()
            configuration.byteLimit = 1 << 20
            let journal = try Journal(at: folder, configuration: configuration)
            let consumer = try journal.consumer("reader")
            let found = try Self.numbers(consumer.read(upTo: .max))
            #expect(Set(found).count == found.count, "trial \(trial)")
            #expect(Set(found).isDisjoint(with: acknowledged), "trial \(trial)")
            let lost = waiting.subtracting(found).subtracting(acknowledged).subtracting(begun)
            #expect(lost.isEmpty, "trial \(trial): \(lost.sorted().prefix(5))")
            // The record in progress may exist, although its append did not return.
            #expect(Set(found).subtracting(waiting).isSubset(of: [next]), "trial \(trial)")
            // The next process continues from there.
            waiting = Set(found)
            next += 1
        }
        // Killing processes before they have written anything would prove nothing.
        #expect(appended > Self.killCount, "only \(appended) records")
        print("\(Self.killCount) kills, \(appended) records, none lost")
    }

    @Test("A concurrent writer in another process can be killed without losing records")
    func besideAnother() async throws {
        let folder = URL.temporaryDirectory.appending(path: "keel-journal-\(UUID().uuidString)")
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = try Journal(at: folder)
        let reader = try journal.consumer("reader")
        var promised: Set<Int> = []
        var found: [Int] = []
        for trial in 0..<10 {
            async let life: [Int]? = CrashTrial.run(
                "KeelJournalCrashWriter",
                [folder.path, String(1 + trial * 100_000), "other"],
                killedAfter: .milliseconds(Int.random(in: 1...10)),
                waitsForLife: true
            )
            for number in 0..<200 {
                let own = 50_000_000 + trial * 1000 + number
                try journal.append(Array("\(own) ".utf8))
                promised.insert(own)
                found += try Self.numbers(reader.read(upTo: 50))
            }
            let printed = try #require(await life, "the writer ended by itself")
            promised.formUnion(printed.filter { $0 > 0 && $0 < 1_000_000_000 })
            // The other process limits the journal to 1 MiB: what it wrote in a long life must be
            // read before the next one writes as much.
            found += try Self.numbers(reader.read(upTo: .max))
        }
        found += try Self.numbers(reader.read(upTo: .max))
        #expect(Set(found).count == found.count)
        #expect(promised.subtracting(found).isEmpty)
        #expect(promised.contains { $0 < 50_000_000 }, "the other process wrote nothing")
    }

    private static func numbers(_ records: [JournalRecord]) -> [Int] {
        records.compactMap { record in
            Int(String(decoding: record.bytes.prefix { $0 != 0x20 }, as: UTF8.self))
        }
    }
}
