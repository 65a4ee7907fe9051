import Foundation
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Testing

/// Stops the world at every step, and checks what is left.
@Suite("Crash recovery of the journal")
struct CrashPointTests {
    /// The promises of a run, each with the number of disk steps at that time.
    private struct Promises {
        var appended: [(number: Int, steps: Int)] = []
        /// The number of steps when settling began and ended.
        var acknowledged: [Int: (began: Int, ended: Int)] = [:]
    }

    /// The number of points at which each test stops the world.
    private static let points = TestLength.count("KEEL_JOURNAL_POINTS", 2_000, thorough: 10_000)

    private static func configuration(_ power: Bool) -> JournalConfiguration {
        var configuration = JournalConfiguration()
        configuration.recordLimit = 400
        configuration.byteLimit = 64 << 10
        configuration.recordByteLimit = 2000
        configuration.durability = power ? .power : .process
        configuration.now = { 1_000_000 }
        return configuration
    }

    private static func run(
        _ random: inout SeededRandom,
        on files: SimulatedFileSystem,
        power: Bool
    ) throws -> Promises {
        var promises = Promises()
        let journal = try Journal(at: "/j", configuration: configuration(power), files: files)
        let consumer = try journal.consumer("a")
        for number in 0..<120 {
            let size = Int.random(in: 0...60, using: &random)
            try journal.append(Array("\(number) ".utf8) + [UInt8](repeating: 0x2E, count: size))
            promises.appended.append((number, files.steps.count))
            switch Int.random(in: 0..<12, using: &random) {
            case 0: try journal.close()
            case 1, 2:
                let records = try consumer.read(upTo: Int.random(in: 1...20, using: &random))
                let chosen = records.filter { _ in Int.random(in: 0..<4, using: &random) > 0 }
                let began = files.steps.count
                try consumer.acknowledge(chosen.map(\.position))
                for record in chosen {
                    promises.acknowledged[Self.number(record)] = (began, files.steps.count)
                }
            case 3: consumer.rewind()
            default: break
            }
        }
        return promises
    }

    private static func number(_ record: JournalRecord) -> Int {
        Int(String(decoding: record.bytes.prefix { $0 != 0x20 }, as: UTF8.self)) ?? -1
    }

    /// The records that a new process finds on a disk: all that are not acknowledged.
    private static func found(on disk: SimulatedDisk, power: Bool) throws -> [Int] {
        let files = SimulatedFileSystem(disk)
        let journal = try Journal(at: "/j", configuration: configuration(power), files: files)
        let consumer = try journal.consumer("a")
        let found = try consumer.read(upTo: 10_000).map(number)
        // The journal must still work.
        try journal.append(Array("9999 ".utf8))
        let last = try consumer.read(upTo: 10).map(number)
        #expect(last == [9999])
        return found
    }

    private static func check(
        _ found: [Int],
        _ promises: Promises,
        after steps: Int,
        _ comment: Comment
    ) {
        #expect(found == found.sorted(), comment)
        #expect(Set(found).count == found.count, comment)
        let acknowledged = promises.appended.filter { $0.steps <= steps }.map(\.number)
        let mayBeGone = promises.acknowledged.filter { $0.value.began <= steps }.keys
        let mustBeGone = promises.acknowledged.filter { $0.value.ended <= steps }.keys
        let lost = Set(acknowledged).subtracting(found).subtracting(mayBeGone)
        #expect(lost.isEmpty, comment)
        #expect(Set(found).isDisjoint(with: mustBeGone), comment)
    }

    @Test("A kill at any step or in the middle of a write loses nothing acknowledged")
    func kills() throws {
        var (seed, points) = (UInt64(0), 0)
        while points < Self.points {
            seed += 1
            var random = SeededRandom(seed: seed)
            let files = SimulatedFileSystem()
            let promises = try Self.run(&random, on: files, power: false)
            for count in 0...files.steps.count {
                let torn = Bool.random(using: &random) ? Int.random(in: 1...40, using: &random) : 0
                let disk = files.disk(afterKillAt: count, torn: torn)
                let found = try Self.found(on: disk, power: false)
                let comment: Comment = "seed \(seed), step \(count), torn \(torn)"
                Self.check(found, promises, after: count, comment)
            }
            points += files.steps.count + 1
        }
    }

    @Test("After a power failure all synchronized records are there")
    func powerFailures() throws {
        var (seed, points) = (UInt64(0), 0)
        while points < Self.points {
            seed += 1
            var random = SeededRandom(seed: seed)
            let files = SimulatedFileSystem()
            let promises = try Self.run(&random, on: files, power: true)
            for count in 0...files.steps.count {
                let disk = files.disk(afterPowerFailureAt: count, using: &random)
                let found = try Self.found(on: disk, power: true)
                // Settled records may return: that is the meaning of "at least once".
                let lost = Set(promises.appended.filter { $0.steps <= count }.map(\.number))
                    .subtracting(found)
                    .subtracting(promises.acknowledged.filter { $0.value.began <= count }.keys)
                #expect(lost.isEmpty, "seed \(seed), step \(count)")
                #expect(Set(found).count == found.count, "seed \(seed), step \(count)")
            }
            points += files.steps.count + 1
        }
    }
}
