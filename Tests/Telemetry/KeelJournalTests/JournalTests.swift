import Foundation
import KeelCore
import KeelJournal
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Journal")
struct JournalTests {
    let files = SimulatedFileSystem()

    func journal(_ change: (inout JournalConfiguration) -> Void = { _ in }) throws -> Journal {
        var configuration = JournalConfiguration()
        change(&configuration)
        return try Journal(at: "/journal", configuration: configuration, files: files)
    }

    func record(_ number: Int, size: Int = 4) -> [UInt8] {
        let text = Array("\(number)".utf8)
        return text + [UInt8](repeating: 0x2E, count: max(0, size - text.count))
    }

    func number(_ record: JournalRecord) -> Int? {
        Int(String(decoding: record.bytes.prefix { $0 != 0x2E }, as: UTF8.self))
    }

    @Test("Records are returned in order, once, until they are acknowledged")
    func order() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        for number in 0..<10 { try journal.append(record(number)) }
        let first = try consumer.read(upTo: 4)
        #expect(first.compactMap(number) == [0, 1, 2, 3])
        let rest = try consumer.read(upTo: 100)
        #expect(rest.compactMap(number) == Array(4..<10))
        #expect(try consumer.read(upTo: 100) == [])
        consumer.rewind()
        #expect(try consumer.read(upTo: 100).count == 10)
    }

    @Test("Records are returned in order although the next segment begins during a read")
    func orderAcrossSegments() throws {
        let journal = try journal { $0.recordLimit = 16 }
        let consumer = try journal.consumer("a")
        try journal.append(record(0))
        let others = Mutex([record(1), record(2)])
        files.fail { call in
            guard case .names = call else { return nil }
            // Only once, because the start of a segment lists the others as well.
            let new = others.withLock { records in
                defer { records = [] }
                return records
            }
            for record in new { _ = try? journal.append(record) }
            return nil
        }
        let found = try consumer.read(upTo: 10)
        files.fail(nil)
        #expect(found.map(\.position.segment) == [1, 1, 2])
        #expect(found.compactMap(number) == [0, 1, 2])
    }

    @Test("Records can be acknowledged in any order, and remain so after a restart")
    func settles() throws {
        do {
            let journal = try journal()
            let consumer = try journal.consumer("a")
            for number in 0..<10 { try journal.append(record(number)) }
            let records = try consumer.read(upTo: 100)
            try consumer.acknowledge(
                records.filter { number($0).map { $0 % 2 == 0 } ?? false }.map(\.position)
            )
            try consumer.acknowledge([records[1].position, records[1].position])
            #expect(try consumer.pendingCount() == 4)
        }
        let consumer = try journal().consumer("a")
        #expect(try consumer.read(upTo: 100).compactMap(number) == [3, 5, 7, 9])
    }

    @Test("Consumers proceed independently, and the last one releases a segment")
    func consumers() throws {
        let journal = try journal { $0.recordLimit = 80 }
        let quick = try journal.consumer("quick")
        let slow = try journal.consumer("slow")
        for number in 0..<30 { try journal.append(record(number)) }
        try quick.acknowledge(try quick.read(upTo: 100).map(\.position))
        #expect(try quick.pendingCount() == 0)
        #expect(try slow.pendingCount() == 30)
        let before = try files.names(in: "/journal").count { $0.hasSuffix(".journal") }
        try slow.acknowledge(try slow.read(upTo: 20).map(\.position))
        let after = try files.names(in: "/journal").count { $0.hasSuffix(".journal") }
        #expect((before, after) == (3, 1))
        #expect(try slow.read(upTo: 100).compactMap(number) == Array(20..<30))
    }

    @Test("A new consumer starts with the oldest or the newest record")
    func starts() throws {
        let journal = try journal()
        for number in 0..<3 { try journal.append(record(number)) }
        let newest = try journal.consumer("newest", from: .newest)
        let oldest = try journal.consumer("oldest")
        try journal.append(record(3))
        #expect(try newest.read(upTo: 10).compactMap(number) == [3])
        #expect(try oldest.read(upTo: 10).compactMap(number) == [0, 1, 2, 3])
    }

    @Test("A name belongs to one consumer at a time")
    func oneConsumer() throws {
        let journal = try journal()
        var first: JournalConsumer? = try journal.consumer("a")
        #expect(throws: JournalError.self) { try journal.consumer("a") }
        #expect(first?.name == "a")
        first = nil
        _ = try journal.consumer("a")
        for name in ["", "a/b", "ä", String(repeating: "a", count: 65)] {
            #expect(throws: JournalError.self) { try journal.consumer(name) }
        }
    }

    @Test("A byte limit bounds each read, except for its first record")
    func limits() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        for number in 0..<4 { try journal.append(record(number, size: 100)) }
        #expect(try consumer.read(upTo: 10, bytes: 250).count == 2)
        #expect(try consumer.read(upTo: 10, bytes: 1).count == 1)
        #expect(try consumer.read(upTo: 0).isEmpty)
    }

    @Test("Beyond its limits the journal drops the oldest records and reports each consumer's loss")
    func dropsOldest() throws {
        let journal = try journal { $0.recordLimit = 80 }
        let consumer = try journal.consumer("a")
        for number in 0..<5 { try journal.append(record(number)) }
        try consumer.acknowledge(try consumer.read(upTo: 3).map(\.position))
        for number in 5..<205 { try journal.append(record(number)) }
        consumer.rewind()
        let left = try consumer.read(upTo: 1000).compactMap(number)
        #expect(left.count <= 80)
        #expect(left == Array((205 - left.count)..<205))
        #expect(try consumer.losses().lost == 205 - 3 - left.count)
        #expect(journal.statistics.removedSegments > 0)
    }

    @Test(
        "With the refuse policy, a full journal keeps its records and accepts more after acknowledgment"
    )
    func refuses() throws {
        let journal = try journal { configuration in
            configuration.recordLimit = 80
            configuration.overflow = .refuse
        }
        let consumer = try journal.consumer("a")
        var kept = 0
        while (try? journal.append(record(kept))) != nil { kept += 1 }
        #expect(kept == 80)
        #expect(throws: JournalError.self) { try journal.append(record(0)) }
        let records = try consumer.read(upTo: 1000)
        #expect(records.compactMap(number) == Array(0..<80))
        try consumer.acknowledge(records.map(\.position))
        try journal.append(record(80))
        #expect(try consumer.read(upTo: 10).compactMap(number) == [80])
    }

    @Test("Expired records are not returned and count as lost")
    func expires() throws {
        let clock = MutableTime(1_000_000_000)
        let journal = try journal { configuration in
            configuration.ageLimit = .seconds(60)
            configuration.now = { clock.now }
        }
        let consumer = try journal.consumer("a")
        try journal.append(record(0))
        clock.advance(by: 61_000_000)
        try journal.append(record(1))
        // The time becomes certain a quarter of the limit later.
        #expect(try consumer.read(upTo: 0).isEmpty)
        clock.advance(by: 15_000_000)
        #expect(try consumer.read(upTo: 10).compactMap(number) == [1])
        #expect(try consumer.losses().lost == 1)
    }

    @Test("A clock that is years ahead for a while expires nothing")
    func leaps() throws {
        let clock = MutableTime(1_700_000_000_000_000)
        let twentyYears: Int64 = 20 * 365 * 86_400 * 1_000_000
        let journal = try journal { configuration in
            configuration.ageLimit = .seconds(30 * 86_400)
            configuration.recordLimit = 80
            configuration.now = { clock.now }
        }
        let consumer = try journal.consumer("a")
        for number in 0..<20 { try journal.append(record(number)) }
        for hours in 1...3 as ClosedRange<Int64> {
            clock.advance(by: twentyYears)
            // The record starts a segment, and the read looks for those that have expired.
            for number in 0..<10 { try journal.append(record(100 * Int(hours) + number)) }
            #expect(try consumer.read(upTo: 100).count == 20 + 10 * Int(hours))
            clock.advance(by: hours * 3_600_000_000 - twentyYears)
            consumer.rewind()
            #expect(try consumer.read(upTo: 100).count == 20 + 10 * Int(hours))
            consumer.rewind()
        }
        #expect(try consumer.losses().lost == 0)
    }

    @Test("A record that is too long and invalid limits are rejected")
    func refusesArguments() throws {
        let journal = try journal { $0.recordByteLimit = 10 }
        try journal.append([UInt8](repeating: 1, count: 10))
        #expect(throws: JournalError.self) { try journal.append([UInt8](repeating: 1, count: 11)) }
        #expect(journal.statistics.appended == 1)
        #expect(throws: JournalError.self) { try self.journal { $0.byteLimit = 1 } }
        #expect(throws: JournalError.self) { try self.journal { $0.recordLimit = 0 } }
        #expect(throws: JournalError.self) { try self.journal { $0.recordByteLimit = 1 << 30 } }
    }

    @Test("A full disk refuses whole records, and the journal continues when there is space")
    func fullDisk() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        for number in 0..<10 { try journal.append(record(number, size: 100)) }
        files.limit(to: files.disk.byteCount + 50)
        expectError(JournalError.self, .diskFull) { try journal.append(record(10, size: 100)) }
        files.limit(to: nil)
        try journal.append(record(11, size: 100))
        #expect(try consumer.read(upTo: 100).compactMap(number) == Array(0..<10) + [11])
    }

    @Test("A failed synchronization is reported, and the next record goes to another place")
    func failedSync() throws {
        let journal = try journal { $0.durability = .power }
        let consumer = try journal.consumer("a")
        let before = try journal.append(record(0))
        files.fail { call in if case .sync = call { FileSystemError.inputOutput } else { nil } }
        expectError(JournalError.self, .fileFailed) { try journal.append(record(1)) }
        files.fail(nil)
        // Nothing would be safe after bytes that did not reach the disk.
        let after = try journal.append(record(2))
        #expect(after.segment != before.segment)
        let found = try consumer.read(upTo: 10).compactMap(number)
        #expect(found.first == 0 && found.last == 2)
    }

    @Test("Synchronized records survive any power failure, also those of segments that have ended")
    func synchronizing() throws {
        var random = SeededRandom(seed: 1)
        let journal = try journal { $0.recordLimit = 16 }
        for (count, closes) in [(1, false), (5, false), (6, true)] {
            while journal.statistics.appended < count {
                try journal.append(record(journal.statistics.appended))
            }
            if closes { try journal.close() }
            try journal.sync()
            for _ in 0..<50 {
                let disk = files.disk(afterPowerFailureAt: files.steps.count, using: &random)
                let left = try Journal(
                    at: "/journal",
                    configuration: JournalConfiguration(),
                    files: SimulatedFileSystem(disk)
                )
                let found = try left.consumer("a").read(upTo: 10).compactMap(number)
                #expect(found == Array(0..<count))
            }
        }
    }

    @Test("A cursor that is replaced keeps its permissions")
    func permissions() throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let journal = try Journal(at: folder)
        let consumer = try journal.consumer("a")
        let cursor = folder.path + "/a.cursor"
        try FileManager.default.setAttributes([.posixPermissions: 0o640], ofItemAtPath: cursor)
        try journal.append(record(0))
        try consumer.acknowledge(try consumer.read(upTo: 1).map(\.position))
        let attributes = try FileManager.default.attributesOfItem(atPath: cursor)
        #expect(attributes[.posixPermissions] as? Int == 0o640)
    }

    @Test("A removed folder is created again")
    func removedFolder() throws {
        let clock = MutableTime(1_000_000_000)
        let journal = try journal { $0.now = { clock.now } }
        try journal.append(record(0))
        files.vanish()
        clock.advance(by: 60_000)
        try journal.append(record(1))
        let consumer = try journal.consumer("a")
        #expect(try consumer.read(upTo: 10).compactMap(number) == [1])
    }

    @Test("A damaged record loses only itself")
    func damage() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        for number in 0..<10 { try journal.append(record(number)) }
        try journal.close()
        let path = "/journal/0000000000000001.journal"
        var bytes = try #require(files.disk[path])
        // The content of the fourth record: 40 bytes of header, 20 per record.
        bytes[40 + 3 * 20 + 17] ^= 1
        files.disk[path] = bytes
        #expect(try consumer.read(upTo: 100).compactMap(number) == [0, 1, 2, 4, 5, 6, 7, 8, 9])
        #expect(journal.statistics.corrupt == 1)
    }

    @Test("A record damaged at any byte loses only itself", arguments: [4, 112])
    func damageAnywhere(size: Int) throws {
        for (byte, bit) in (0..<20).flatMap({ byte in (0..<8).map { (byte, $0) } }) {
            let files = SimulatedFileSystem()
            let journal = try Journal(
                at: "/journal",
                configuration: JournalConfiguration(),
                files: files
            )
            let consumer = try journal.consumer("a")
            // Records of one length, so that a longer one may end where another does.
            for number in 0..<10 { try journal.append(record(number, size: size)) }
            try journal.close()
            let path = "/journal/0000000000000001.journal"
            var bytes = try #require(files.disk[path])
            bytes[40 + 3 * (16 + size) + byte] ^= 1 << UInt8(bit)
            files.disk[path] = bytes
            let others = [0, 1, 2, 4, 5, 6, 7, 8, 9]
            #expect(
                try consumer.read(upTo: 100).compactMap(number) == others,
                "byte \(byte), bit \(bit)"
            )
            #expect(try consumer.counts().corrupt == 1, "byte \(byte), bit \(bit)")
        }
    }

    @Test("A damaged record loses only itself after a clock that began in 1970 was set")
    func damageAfterClockLeap() throws {
        let clock = MutableTime(0)
        let journal = try journal { $0.now = { clock.now } }
        let consumer = try journal.consumer("a")
        try journal.append(record(0))
        clock.advance(by: 1_700_000_000_000_000)
        for number in 1..<5 { try journal.append(record(number)) }
        try journal.close()
        // The length of the second of the later records.
        let second = try #require(try consumer.read(upTo: 9).dropFirst(2).first).position
        let path = "/journal/000000000000000\(second.segment).journal"
        var bytes = try #require(files.disk[path])
        bytes[second.offset + 3] = 0xFF
        files.disk[path] = bytes
        consumer.rewind()
        #expect(try consumer.read(upTo: 9).compactMap(number) == [0, 1, 3, 4])
    }

    @Test("Erased records are removed from the disk in place, with and without consumers")
    func erasing() throws {
        let journal = try journal { $0.sealing = nil }
        let one = try journal.consumer("one")
        let names = (0..<10).map { "private-\($0)-" }
        for name in names { try journal.append(Array(name.utf8)) }
        let early = try one.read(upTo: 4)
        try one.acknowledge(early.prefix(2).map(\.position))
        try journal.erase { String(decoding: $0.bytes, as: UTF8.self).contains("-3-") }
        try journal.erase { record in
            ["-0-", "-5-"].contains { String(decoding: record.bytes, as: UTF8.self).contains($0) }
        }
        for content in files.disk.contents.values {
            let text = String(decoding: content, as: UTF8.self)
            for gone in ["private-0-", "private-3-", "private-5-"] { #expect(!text.contains(gone)) }
        }
        #expect(try one.pendingCount() == 6)
        one.rewind()
        let left = try one.read(upTo: 100).map { String(decoding: $0.bytes, as: UTF8.self) }
        #expect(left == [2, 4, 6, 7, 8, 9].map { names[$0] })
        let late = try journal.consumer("late")
        #expect(try late.pendingCount() == 7)
        #expect(try late.read(upTo: 100).count == 7)
        #expect(try journal.consumer("third").counts().corrupt == 0)
        #expect(journal.statistics.corrupt == 0)
    }

    @Test("After interrupted erasing, the count matches the records that are returned")
    func cutOffErasing() throws {
        let journal = try journal()
        for number in 0..<6 { try journal.append(record(number)) }
        try journal.close()
        let before = files.steps.count
        try journal.erase { number($0).map { $0 % 2 == 0 } ?? false }
        for count in before...files.steps.count {
            let disk = SimulatedFileSystem(files.disk(afterKillAt: count))
            let next = try Journal(
                at: "/journal",
                configuration: JournalConfiguration(),
                files: disk
            )
            let consumer = try next.consumer("a")
            let pending = try consumer.pendingCount()
            let taken = try consumer.read(upTo: 100).compactMap(number)
            #expect(pending == taken.count, "step \(count)")
            #expect(Set(taken).isSuperset(of: [1, 3, 5]), "step \(count)")
            try next.erase { number($0).map { $0 % 2 == 0 } ?? false }
            consumer.rewind()
            #expect(try consumer.read(upTo: 100).compactMap(number) == [1, 3, 5])
            #expect(try consumer.counts().pending == 3)
        }
    }

    @Test("Sealed records are unreadable on disk and without their keys")
    func sealing() throws {
        let secret = Array("the secret of the house".utf8)
        do {
            let journal = try journal { $0.sealing = FakeByteSealing(key: 7) }
            try journal.append(secret)
            let consumer = try journal.consumer("a")
            let bytes = try consumer.read(upTo: 1).map(\.bytes)
            #expect(bytes == [secret])
        }
        for content in files.disk.contents.values {
            #expect(!content.indices.contains { content[$0...].starts(with: secret) })
        }
        expectError(JournalError.self, .sealingFailed) { try journal().consumer("b").read(upTo: 1) }
    }

    @Test("Two journals in one folder write side by side, and one consumer reads everything")
    func twoWriters() throws {
        let (one, other) = (try journal(), try journal())
        let consumer = try one.consumer("a")
        for number in 0..<20 { try (number % 2 == 0 ? one : other).append(record(number)) }
        let records = try consumer.read(upTo: 100)
        #expect(Set(records.compactMap(number)) == Set(0..<20))
        #expect(records.count == 20)
        try consumer.acknowledge(records.map(\.position))
        try other.append(record(20))
        #expect(try consumer.read(upTo: 100).compactMap(number) == [20])
    }

    @Test("A record that is read while it is written is not damaged if its writer ends meanwhile")
    func writtenMeanwhile() throws {
        let (other, reading) = (try journal(), try journal())
        let consumer = try reading.consumer("a")
        for number in 0..<2 { try other.append(record(number)) }
        let path = "/journal/0000000000000001.journal"
        let written = try #require(files.disk[path])
        var partly = written
        // The last byte of the first record: 40 bytes of header, 20 per record.
        partly[59] ^= 1
        files.disk[path] = partly
        let hasEnded = Mutex(false)
        // The reader asks whether the segment has a writer.
        files.fail { [files] call in
            guard case .lock = call, !hasEnded.withLock({ $0 }) else { return nil }
            hasEnded.withLock { $0 = true }
            files.disk[path] = written
            try? other.close()
            return nil
        }
        #expect(try consumer.read(upTo: 9).compactMap(number) == [0, 1])
        #expect(try consumer.counts().corrupt == 0)
        files.fail(nil)
    }

    @Test("Waiting ends with the next record or the timeout")
    func waits() async throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        let clock = TestClock()
        _ = try consumer.read(upTo: 1)
        async let woken: Void = consumer.waitForRecords(upTo: .seconds(60), clock: clock)
        await clock.waitForSleepers()
        try journal.append(record(0))
        await woken
        // Appended since the last read: nothing to wait for.
        await consumer.waitForRecords(upTo: .seconds(60), clock: clock)
        _ = try consumer.read(upTo: 1)
        async let late: Void = consumer.waitForRecords(upTo: .seconds(60), clock: clock)
        await clock.advance(by: .seconds(60), onceAsleep: 1)
        await late
    }
}
