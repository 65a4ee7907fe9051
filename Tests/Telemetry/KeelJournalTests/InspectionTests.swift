import KeelCore
import KeelJournal
import KeelTestSupport
import Testing

@Suite("Journal inspection")
struct InspectionTests {
    let files = SimulatedFileSystem()

    private func journal() throws -> Journal {
        var configuration = JournalConfiguration()
        configuration.recordLimit = 80
        return try Journal(at: "/j", configuration: configuration, files: files)
    }

    private func inspection() throws -> JournalInspection {
        try JournalInspection(of: "/j/", sealing: nil, files: files)
    }

    private func append(_ numbers: Range<Int>, to journal: Journal) throws {
        for number in numbers { try journal.append([UInt8(number)]) }
    }

    private func numbers(_ records: [JournalRecord]) -> [Int] {
        records.flatMap(\.bytes).map { Int($0) }
    }

    @Test("Inspecting a folder without a journal throws and creates none")
    func nothing() throws {
        expectError(JournalError.self, .notFound) { try inspection() }
        #expect(try files.size(of: "/j") == nil)
    }

    @Test("Inspection reports each open consumer's backlog and leaves the disk unchanged")
    func consumers() throws {
        let journal = try journal()
        let done = try journal.consumer("done")
        let half = try journal.consumer("half")
        try append(0..<25, to: journal)
        try done.acknowledge(try done.read(upTo: 100).map(\.position)) { _ in [7] }
        try half.acknowledge(try half.read(upTo: 12).map(\.position))
        let before = files.disk.contents
        let inspection = try inspection()
        let consumers = try inspection.consumers()
        #expect(consumers.map(\.name) == ["done", "half"])
        #expect(consumers.map(\.counts.pending) == [0, 13])
        #expect(consumers.map(\.note) == [[7], []])
        var reader = try inspection.reader(unacknowledgedBy: "half")
        #expect(numbers(try reader.read(upTo: 5)) == Array(12..<17))
        #expect(numbers(try reader.read(upTo: 100)) == Array(17..<25))
        #expect(try inspection.contents().records == 15)
        #expect(files.disk.contents == before)
        #expect(try half.pendingCount() == 13)
    }

    @Test("A reader continues with records that are appended later, also in later segments")
    func follows() throws {
        let journal = try journal()
        let consumer = try journal.consumer("a")
        try append(0..<3, to: journal)
        var reader = try inspection().reader()
        #expect(numbers(try reader.read(upTo: 100)) == [0, 1, 2])
        #expect(try reader.read(upTo: 100) == [])
        try append(3..<30, to: journal)
        #expect(numbers(try reader.read(upTo: 10)) == Array(3..<13))
        #expect(numbers(try reader.read(upTo: 100)) == Array(13..<30))
        try consumer.acknowledge(try consumer.read(upTo: 100).map(\.position))
        #expect(try reader.read(upTo: 100) == [])
    }

    @Test("Inspecting an unknown consumer throws")
    func unknownConsumer() throws {
        let journal = try journal()
        try append(0..<1, to: journal)
        expectError(JournalError.self, .notFound) {
            _ = try inspection().reader(unacknowledgedBy: "nobody")
        }
    }
}
