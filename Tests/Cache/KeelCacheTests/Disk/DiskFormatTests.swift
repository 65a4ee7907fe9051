import KeelCore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelCache

@Suite("Format of the disk tier")
struct DiskFormatTests {
    @Test("XXH64 matches its reference implementation")
    func checksum() {
        #expect(XXHash64.hash([]) == 0xEF46_DB37_51D8_E999)
        #expect(XXHash64.hash(Array("a".utf8)) == 0xD24E_C4F1_A98C_6E5B)
        #expect(XXHash64.hash(Array("abc".utf8)) == 0x44BC_2CF5_AD77_0999)
        let long = Array("Nobody inspects the spammish repetition".utf8)
        #expect(XXHash64.hash(long) == 0xFBCE_A83C_8A37_8BF1)
        #expect(XXHash64.hash(long, seed: 1) != XXHash64.hash(long))
    }

    @Test("SipHash-2-4 matches its paper")
    func keyHash() {
        let hash = SipHash24(first: 0x0706_0504_0302_0100, second: 0x0F0E_0D0C_0B0A_0908)
        #expect(hash.hash(Array(0..<15)) == 0xA129_CA61_49BE_45E5)
        #expect(hash.hash([]) == 0x726F_DB47_DD0E_0E31)
        #expect(hash.hash(Array(0..<8)) == 0x93F5_F579_9A93_2462)
    }

    @Test("A table finds, replaces and removes like a dictionary")
    func table() {
        var random = SeededRandom(seed: 5)
        var table = IndexTable()
        var model: [UInt64: UInt32] = [:]
        for number in 0..<20_000 {
            // Few distinct low bits, so that chains become long.
            let hash = UInt64.random(in: 0..<600, using: &random) &* 0x1_0000_0040
            if Int.random(in: 0..<3, using: &random) == 0 {
                #expect(table.remove(hash)?.offset == model.removeValue(forKey: hash))
            } else {
                let slot = IndexSlot(hash: hash, offset: UInt32(number), byteCount: 1)
                let old = table.insert(slot)
                #expect(old?.offset == model.updateValue(UInt32(number), forKey: hash))
            }
            if number == 10_000 {
                table.removeAll { $0.offset % 2 == 0 }
                model = model.filter { $0.value % 2 != 0 }
            }
            #expect(table.count == model.count)
        }
        for (hash, offset) in model { #expect(table[hash]?.offset == offset) }
    }

    @Test("A record is valid only at its own position")
    func place() throws {
        var bytes: [UInt8] = []
        let header = RecordHeader(kind: .entry, hash: 7, sequence: 3)
        header.append(to: &bytes, seed: RecordHeader.seed(segment: 9, offset: 64))
        #expect(bytes.count == RecordHeader.byteCount)
        bytes.withUnsafeBytes { bytes in
            let here = RecordHeader.seed(segment: 9, offset: 64)
            #expect(RecordHeader(bytes, seed: here) == header)
            #expect(RecordHeader(bytes, seed: .init(here ^ 1)) == nil)
            let elsewhere = RecordHeader.seed(segment: 9, offset: 65)
            #expect(RecordHeader(bytes, seed: elsewhere) == nil)
        }
    }

    @Test("Concurrent readers and writers see whole values during eviction")
    func crowd() async throws {
        let files = SimulatedFileSystem()
        let tier = try files.tier(limit: 64 << 10)
        // Gives the readers something to find, however late the writers are.
        for key in 0..<30 { try await tier.set("\(key)", [UInt8(key)]) }
        let finds = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask {
                    var finds = 0
                    var random = SeededRandom(seed: UInt64(worker))
                    for number in 0..<300 {
                        let key = Int.random(in: 0..<30, using: &random)
                        if worker % 2 == 0 {
                            let size = Int.random(in: 0..<3000, using: &random)
                            let filling = UInt8(truncatingIfNeeded: number)
                            let value = [UInt8(key)] + [UInt8](repeating: filling, count: size)
                            try await tier.set("\(key)", value)
                        } else if let found = try await tier.value("\(key)") {
                            finds += 1
                            let isWhole = found[0] == key && Set(found.dropFirst()).count <= 1
                            #expect(isWhole)
                        }
                    }
                    return finds
                }
            }
            return try await group.reduce(0, +)
        }
        #expect(finds > 0)
        #expect(try await tier.usage().damagedCount == 0)
    }
}
