import KeelCore
import KeelJournal
import KeelTestSupport
import Testing

@Suite("Notes and counts of consumers")
struct NoteTests {
    let files = SimulatedFileSystem()

    private func journal(
        _ change: (inout JournalConfiguration) -> Void = { _ in },
        on files: SimulatedFileSystem? = nil
    ) throws -> Journal {
        var configuration = JournalConfiguration()
        configuration.now = { 1_000_000 }
        change(&configuration)
        return try Journal(at: "/j", configuration: configuration, files: files ?? self.files)
    }

    private func append(_ numbers: Range<Int>, to journal: Journal) throws {
        for number in numbers { try journal.append([UInt8(number)]) }
    }

    @Test("A note survives a restart and can be replaced without an acknowledgment")
    func keepsNotes() throws {
        do {
            let journal = try journal()
            let consumer = try journal.consumer("a")
            #expect(consumer.note == [])
            try append(0..<3, to: journal)
            let records = try consumer.read(upTo: 2)
            try consumer.acknowledge(records.map(\.position)) { acknowledged in
                #expect(acknowledged == records.map(\.position))
                return [7]
            }
            try consumer.acknowledge([]) { acknowledged in
                #expect(acknowledged.isEmpty)
                return [8, 9]
            }
            try consumer.acknowledge(records.map(\.position))
        }
        let consumer = try journal().consumer("a")
        #expect(consumer.note == [8, 9])
        #expect(try consumer.read(upTo: 9).map(\.bytes) == [[2]])
    }

    @Test("A note that is too long is rejected, and nothing is acknowledged")
    func longNotes() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        try append(0..<1, to: journal)
        let positions = try consumer.read(upTo: 1).map(\.position)
        expectError(JournalError.self, .invalidArgument) {
            try consumer.acknowledge(positions) { _ in [UInt8](repeating: 0, count: 4097) }
        }
        #expect(try consumer.pendingCount() == 1 && consumer.note == [])
        try consumer.acknowledge(positions) { _ in [UInt8](repeating: 0, count: 4096) }
        #expect(try consumer.pendingCount() == 0)
    }

    @Test("A repeated call stores what the first one could not store on a full disk")
    func fullDisk() throws {
        do {
            let journal = try journal()
            let consumer = try journal.consumer("a")
            try append(0..<3, to: journal)
            let positions = try consumer.read(upTo: 2).map(\.position)
            files.limit(to: files.disk.byteCount)
            expectError(JournalError.self, .diskFull) {
                try consumer.acknowledge(positions) { _ in [7] }
            }
            files.limit(to: nil)
            try consumer.acknowledge(positions) { _ in [7] }
        }
        let consumer = try journal().consumer("a")
        #expect(consumer.note == [7])
        #expect(try consumer.read(upTo: 9).map(\.bytes) == [[2]])
    }

    @Test("On a full disk new records replace the oldest, which are counted as lost")
    func boundsOnFullDisk() throws {
        func opened() throws -> Journal { try journal { $0.recordLimit = 80 } }
        do {
            let journal = try opened()
            let consumers = [try journal.consumer("a"), try journal.consumer("b")]
            try append(0..<80, to: journal)
            files.limit(to: files.disk.byteCount)
            try append(80..<83, to: journal)
            for consumer in consumers { #expect(try consumer.losses().lost == 10) }
            files.limit(to: nil)
        }
        let left = Array(UInt8(10)..<83)
        for name in ["a", "b"] {
            let consumer = try opened().consumer(name)
            #expect(try consumer.losses().lost == 10)
            #expect(try consumer.read(upTo: 99).flatMap(\.bytes) == left)
        }
    }

    @Test("A consumer cannot have the name of the journal's own lock")
    func reservedName() throws {
        let journal = try journal()
        for name in ["journal", "Journal"] {
            expectError(JournalError.self, .invalidArgument) { try journal.consumer(name) }
        }
        try append(0..<1, to: journal)
        #expect(try journal.consumer("journals").read(upTo: 1).count == 1)
    }

    @Test("After a kill at any step, the note matches the acknowledged, expired and lost records")
    func crashes() throws {
        let change: (inout JournalConfiguration) -> Void = { $0.recordLimit = 40 }
        do {
            let journal = try journal(change)
            let consumer = try journal.consumer("a")
            for round in 0..<12 {
                try append(0..<9, to: journal)
                let positions = try consumer.read(upTo: 4 + round % 3).map(\.position)
                let before = consumer.note.first ?? 0
                try consumer.acknowledge(positions) { [before + UInt8($0.count)] }
                if round == 5 {
                    let before = consumer.note.first ?? 0
                    try consumer.discard {
                        $0.bytes == [3]
                    } noting: {
                        [before + UInt8($0.count)]
                    }
                }
            }
        }
        var lost = 0
        for count in 0...files.steps.count {
            let left = SimulatedFileSystem(files.disk(afterKillAt: count))
            let consumer = try journal(change, on: left).consumer("a")
            let counts = try consumer.counts()
            let appended = files.steps.prefix(count).count { step in
                guard case .write(_, let offset, let bytes) = step else { return false }
                return bytes.count == 17 && offset >= 40
            }
            let sum = Int(consumer.note.first ?? 0) + counts.pending + counts.lost + counts.corrupt
            #expect(sum == appended, "step \(count): \(counts), note \(consumer.note)")
            lost = max(lost, counts.lost)
        }
        #expect(lost > 0)
    }

    @Test("Selected records are discarded anywhere, and fully discarded segments are removed")
    func discards() throws {
        let journal = try journal { $0.recordLimit = 80 }
        let consumer = try journal.consumer("a")
        try append(0..<25, to: journal)
        let taken = try consumer.read(upTo: 5).map(\.position)
        try consumer.discard {
            $0.bytes[0] % 2 == 0
        } noting: {
            [UInt8($0.count)]
        }
        #expect(consumer.note == [13])
        #expect(try consumer.counts().pending == 12)
        // Records that were handed out and then discarded do not count again.
        try consumer.acknowledge(taken) { [UInt8($0.count)] }
        #expect(consumer.note == [2])
        let odd = try consumer.read(upTo: 99).flatMap(\.bytes)
        #expect(odd == stride(from: 5, to: 25, by: 2).map { UInt8($0) })
        try journal.close()
        try consumer.discard { _ in
            true
        } noting: { _ in
            []
        }
        try journal.removeAcknowledged()
        let segments = try files.names(in: "/j").filter { $0.hasSuffix(".journal") }
        #expect(segments == ["0000000000000004.journal"])
        #expect(files.disk["/j/0000000000000004.journal"]?.count == 40)
        try append(30..<31, to: journal)
        #expect(try consumer.read(upTo: 9).flatMap(\.bytes) == [30])
    }

    @Test("Records whose segment has been removed count as lost, not as acknowledged")
    func settlesWhatIsThere() throws {
        let journal = try journal { $0.recordLimit = 80 }
        let consumer = try journal.consumer("a")
        try append(0..<20, to: journal)
        let positions = try consumer.read(upTo: 15).map(\.position)
        for _ in 0..<10 { try append(0..<10, to: journal) }
        var acknowledged = 0
        try consumer.acknowledge(positions) { done in
            acknowledged = done.count
            return []
        }
        let counts = try consumer.counts()
        #expect(counts.lost > 0)
        #expect(acknowledged + counts.pending + counts.lost == 120)
    }

    @Test("A removed consumer holds no records and starts anew under its name")
    func forgets() throws {
        let journal = try journal { $0.recordLimit = 80 }
        let stays = try journal.consumer("stays")
        var leaves: JournalConsumer? = try journal.consumer("leaves")
        try append(0..<30, to: journal)
        try leaves?.acknowledge([]) { _ in [1] }
        try stays.acknowledge(try stays.read(upTo: 99).map(\.position))
        #expect(try journal.consumerNames() == ["leaves", "stays"])
        expectError(JournalError.self, .consumerInUse) { try journal.removeConsumer("leaves") }
        leaves = nil
        try journal.removeConsumer("leaves")
        try journal.removeConsumer("never")
        #expect(try journal.consumerNames() == ["stays"])
        let segments = try files.names(in: "/j").count { $0.hasSuffix(".journal") }
        #expect(segments == 1)
        let again = try journal.consumer("leaves")
        #expect(again.note == [])
    }

    @Test("A version 1 cursor is read, and is written as long as it suffices")
    func versions() throws {
        do {
            let journal = try journal()
            let consumer = try journal.consumer("a")
            try append(0..<3, to: journal)
            try consumer.acknowledge(try consumer.read(upTo: 2).map(\.position))
        }
        #expect(files.disk["/j/a.cursor"]?[4] == 1)
        let consumer = try journal().consumer("a")
        #expect(try consumer.pendingCount() == 1)
        try consumer.acknowledge([]) { _ in [1] }
        #expect(files.disk["/j/a.cursor"]?[4] == 2)
    }

    @Test(
        "A cursor whose offset is impossible is read as a corrupt one",
        arguments: [28, 40],
        [UInt64(Int.max), 1 << 63]
    )
    func impossibleOffset(place: Int, offset: UInt64) throws {
        do {
            let journal = try journal()
            let consumer = try journal.consumer("a")
            try append(0..<3, to: journal)
            let last = try consumer.read(upTo: 3).suffix(1)
            try consumer.acknowledge(last.map(\.position))
        }
        var bytes = try #require(files.disk["/j/a.cursor"])
        #expect(bytes.count == 52)
        var number: [UInt8] = []
        number.append(littleEndian: offset)
        bytes.replaceSubrange(place..<place + 8, with: number)
        bytes.removeLast(4)
        bytes.append(littleEndian: CRC32C.checksum(bytes))
        files.disk["/j/a.cursor"] = bytes
        let consumer = try journal().consumer("a")
        #expect(try consumer.read(upTo: 10).count == 3)
    }
}
