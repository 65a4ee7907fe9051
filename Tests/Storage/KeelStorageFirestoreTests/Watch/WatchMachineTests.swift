import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("The client’s side of a Listen stream")
struct WatchMachineTests {
    private static let database = "projects/p/databases/(default)"

    private static func document(_ id: String, _ version: Int64) -> ChangePage.Change {
        let time = Timestamp(microseconds: version)
        return .current(
            Document.stub(
                DocumentPath("c/\(id)"),
                ["v": .integer(version)],
                revision: version,
                at: time
            )
        )
    }

    private static func change(
        _ kind: WatchMessage.TargetChange.Kind,
        _ targets: [Int32] = [],
        token: [UInt8] = [],
        time: Int64? = nil,
        cause: StorageError? = nil
    ) -> WatchMessage {
        var change = WatchMessage.TargetChange(kind: kind)
        change.targets = targets
        change.token = token
        change.time = time.map { Timestamp(microseconds: $0) }
        change.cause = cause
        return .target(change)
    }

    /// A machine with the publications and requests of its last step.
    private struct Driven {
        var machine = WatchMachine(database: WatchMachineTests.database)
        var effects: [WatchMachine.Effect] = []

        init(targets: Int32...) throws {
            for id in targets {
                _ = machine.add(id, [])
                try take(WatchMachineTests.change(.add, [id]))
            }
        }

        init(resumedFrom point: WatchMachine.Resumption) { _ = machine.add(2, [], from: point) }

        mutating func take(_ messages: WatchMessage...) throws {
            effects = []
            for message in messages { effects += try machine.receive(message) }
        }

        /// The ids of the documents in a target’s publications, with a minus for those that left.
        func published(_ target: Int32 = 2) -> [[String]] {
            effects.compactMap { effect in
                guard case .publish(target, let publication) = effect else { return nil }
                return publication.changes.map { change in
                    if case .current = change { change.path.id } else { "-\(change.path.id)" }
                }
            }
        }

        var requests: [String] {
            effects.compactMap { effect in
                guard case .send(let json) = effect else { return nil }
                if json["removeTarget"] != nil { return "remove" }
                return json["addTarget"]?["resumeToken"] == nil ? "add" : "resume"
            }
        }
    }

    @Test("Nothing is published before a target is current and the stream consistent")
    func publishes() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.noChange, time: 5)
        )
        #expect(driven.published().isEmpty)
        try driven.take(Self.change(.current, [2], token: [1], time: 6))
        #expect(driven.published().isEmpty)
        try driven.take(Self.change(.noChange, [2], time: 7))
        #expect(driven.published().isEmpty, "a change of some targets is not a consistent point")
        try driven.take(Self.change(.noChange, token: [2], time: 8))
        #expect(driven.published() == [["a"]])
        try driven.take(
            .departure("c/a", isDeleted: true, removed: [2], at: Timestamp(microseconds: 9)),
            .document(Self.document("b", 9), targets: [2], removed: []),
            Self.change(.noChange, token: [3], time: 9)
        )
        #expect(driven.published() == [["-a", "b"]])
        #expect(driven.machine.members(of: 2) == [Self.document("b", 9)])
    }

    @Test("A message that all targets are current is a consistent point if it has a time")
    func currentOfAll() throws {
        var driven = try Driven(targets: 2, 4)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.current)
        )
        #expect(driven.published().isEmpty)
        _ = driven.machine.add(6, [])
        try driven.take(Self.change(.current, token: [1], time: 5))
        #expect(driven.published() == [["a"]])
        #expect(driven.published(4) == [[]])
        #expect(driven.published(6).isEmpty, "the server has not acknowledged it")
        #expect(driven.machine.members(of: 6) == nil)
    }

    @Test("After a reset, the difference to what was published is published")
    func resets() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            .document(Self.document("b", 1), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [1], time: 1)
        )
        try driven.take(
            .document(Self.document("z", 2), targets: [2], removed: []),
            Self.change(.reset, [2]),
            Self.change(.noChange, token: [1], time: 2)
        )
        #expect(driven.published().isEmpty)
        try driven.take(
            .document(Self.document("b", 1), targets: [2], removed: []),
            .document(Self.document("c", 3), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [2], time: 3)
        )
        #expect(driven.published() == [["-a", "c"]])
    }

    @Test("A document moves from one target to another in one message")
    func moves() throws {
        var driven = try Driven(targets: 2, 4)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.current, [2, 4]),
            Self.change(.noChange, token: [1], time: 1)
        )
        #expect(driven.published(4) == [[]])
        try driven.take(
            .document(Self.document("a", 2), targets: [4], removed: [2]),
            Self.change(.noChange, token: [2], time: 2)
        )
        #expect(driven.published(2) == [["-a"]])
        #expect(driven.published(4) == [["a"]])
    }

    @Test("A time that goes back publishes nothing")
    func timeGoesBack() throws {
        var driven = try Driven(targets: 2)
        try driven.take(Self.change(.current, [2]), Self.change(.noChange, token: [1], time: 5))
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.noChange, token: [2], time: 4)
        )
        #expect(driven.published().isEmpty)
        try driven.take(Self.change(.noChange, token: [2], time: 6))
        #expect(driven.published() == [["a"]])
    }

    @Test("Messages about a target that is removed and added again do not concern the new one")
    func readds() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [1], time: 1)
        )
        driven.effects = driven.machine.reload(2)
        #expect(driven.requests == ["remove", "add"])
        try driven.take(
            .document(Self.document("b", 2), targets: [2], removed: []),
            Self.change(.noChange, token: [1], time: 2),
            Self.change(.remove, [2]),
            .document(Self.document("b", 2), targets: [2], removed: []),
            Self.change(.add, [2]),
            .document(Self.document("c", 3), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [1], time: 3)
        )
        #expect(driven.published() == [["-a", "c"]])
    }

    @Test("An acknowledgement that was not requested is a fault of the server")
    func unasked() throws {
        for message in [Self.change(.add, [8]), Self.change(.remove, [2])] {
            var driven = try Driven(targets: 2)
            #expect(throws: StorageError.self) { try driven.take(message) }
        }
    }

    @Test("A target that ends while it is read again ends alone")
    func endsDuringReload() throws {
        var driven = try Driven(targets: 2, 4)
        _ = driven.machine.reload(2)
        let cause = StorageError(.permissionDenied, "no")
        try driven.take(Self.change(.remove, [2], cause: cause))
        // The server has yet to see the request that adds it again.
        #expect(driven.requests == ["remove"])
        #expect(driven.effects.count == 2)
        #expect(driven.machine.ids == [4])
        try driven.take(
            Self.change(.remove, [2]),
            Self.change(.add, [2]),
            Self.change(.remove, [2])
        )
        #expect(driven.effects.isEmpty)
    }

    @Test("A target that the server ends is removed with its reason")
    func ends() throws {
        var driven = try Driven(targets: 2, 4)
        let cause = StorageError(.permissionDenied, "no")
        try driven.take(Self.change(.remove, [2], cause: cause))
        guard case .fail(2, let error)? = driven.effects.first
        else { return fail("the target goes on") }
        #expect(error.code == .permissionDenied)
        #expect(driven.machine.ids == [4])
    }

    @Test("A new stream continues from the published point, without what was staged")
    func reconnects() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            Self.change(.current, [2], token: [7]),
            Self.change(.noChange, token: [8], time: 1)
        )
        try driven.take(
            .document(Self.document("b", 2), targets: [2], removed: []),
            Self.change(.current, [2], token: [9])
        )
        _ = driven.machine.add(4, [])
        driven.effects = driven.machine.reconnect()
        #expect(driven.requests == ["resume", "add"])
        guard case .send(let request)? = driven.effects.first else { return }
        #expect(request["addTarget"]?["resumeToken"] == "CA==")
        #expect(request["addTarget"]?["expectedCount"] == .integer(1))
        try driven.take(
            Self.change(.add, [2]),
            .document(Self.document("c", 3), targets: [2], removed: []),
            Self.change(.current, [2], token: [10]),
            Self.change(.noChange, token: [10], time: 3)
        )
        #expect(driven.published() == [["c"]])
    }

    @Test("A result that another process began is expired by a reset, and not by changes")
    func resumes() throws {
        let point = WatchMachine.Resumption(token: [1], time: Timestamp(microseconds: 1), count: 2)
        var driven = Driven(resumedFrom: point)
        try driven.take(
            Self.change(.add, [2]),
            .document(Self.document("a", 2), targets: [2], removed: []),
            .departure("c/b", isDeleted: false, removed: [2], at: nil),
            Self.change(.current, [2], token: [2]),
            Self.change(.noChange, token: [2], time: 2)
        )
        #expect(driven.published() == [["a", "-b"]])
        #expect(driven.machine.members(of: 2) == nil)
        #expect(driven.machine.count(of: 2) == nil)

        driven = Driven(resumedFrom: point)
        try driven.take(
            Self.change(.add, [2]),
            Self.change(.reset, [2]),
            .document(Self.document("a", 2), targets: [2], removed: []),
            Self.change(.current, [2], token: [2]),
            Self.change(.noChange, token: [2], time: 2)
        )
        guard case .expire(2)? = driven.effects.first
        else { return fail("the reader is not told") }
        #expect(driven.published() == [["a"]])
        #expect(driven.machine.members(of: 2)?.count == 1)
    }

    @Test("States of a target at one time are numbered")
    func numbers() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            .document(Self.document("b", 1), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [1], time: 1),
            Self.change(.noChange, token: [1], time: 1),
            .departure("c/a", isDeleted: false, removed: [2], at: nil),
            Self.change(.noChange, token: [1], time: 1),
            Self.change(.noChange, token: [2], time: 2)
        )
        let numbers = driven.effects.compactMap { effect -> Int? in
            guard case .publish(2, let publication) = effect else { return nil }
            return publication.number
        }
        #expect(numbers == [0, 0, 1, 0])
    }

    @Test("A filter with the right count changes nothing; with another, the target is read again")
    func filters() throws {
        var driven = try Driven(targets: 2)
        try driven.take(
            .document(Self.document("a", 1), targets: [2], removed: []),
            .document(Self.document("b", 1), targets: [2], removed: []),
            Self.change(.current, [2]),
            Self.change(.noChange, token: [1], time: 1),
            .filter(ExistenceFilter(target: 2, count: 2))
        )
        #expect(driven.requests.isEmpty)
        try driven.take(.filter(ExistenceFilter(target: 2, count: 1)))
        #expect(driven.requests == ["remove", "add"])
        // The filter of a target whose answer is on the way concerns the former one.
        try driven.take(.filter(ExistenceFilter(target: 2, count: 7)))
        #expect(driven.requests.isEmpty)
    }

    @Test("A filter with names removes the documents that are not among them")
    func bloomFilters() throws {
        var driven = try Driven(targets: 2)
        let ids = (0..<50).map { "d\($0)" }
        for id in ids {
            try driven.take(.document(Self.document(id, 1), targets: [2], removed: []))
        }
        try driven.take(Self.change(.current, [2]), Self.change(.noChange, token: [1], time: 1))
        let names = BloomFilter(
            ids.dropFirst(20).map { "\(Self.database)/documents/c/\($0)" },
            bitCount: 1_003
        )
        try driven.take(.filter(ExistenceFilter(target: 2, count: 30, names: names)))
        #expect(driven.requests.isEmpty)
        try driven.take(Self.change(.noChange, token: [2], time: 2))
        #expect(Set(driven.published().joined()) == Set(ids.prefix(20).map { "-\($0)" }))
        // A count that the names do not explain needs a new read.
        try driven.take(.filter(ExistenceFilter(target: 2, count: 31, names: names)))
        #expect(driven.requests == ["remove", "add"])
    }

    @Test("Names set and read the bits that Google's server sets")
    func hashes() throws {
        let name = "projects/project-1/databases/database-1/documents/coll/doc"
        // Of firebase/firebase-js-sdk, `bloom_filter_golden_test_data`, `MD5_1_01`.
        let filter = try #require(BloomFilter(bits: [0x9B, 0x01], padding: 5, hashCount: 8))
        #expect(filter.mayContain(name + "0"))
        #expect(!filter.mayContain(name + "1"))
    }

    @Test("A filter contains its names, and about one in a hundred others")
    func shares() throws {
        let filter = try #require(BloomFilter((0..<2_000).map { "name \($0)" }))
        #expect(filter.bits.count == 2_397)
        #expect((0..<2_000).allSatisfy { filter.mayContain("name \($0)") })
        let others = (2_000..<22_000).count { filter.mayContain("name \($0)") }
        #expect((100...300).contains(others))
        #expect(
            BloomFilter([])?.hashCount == 0,
            "clients refuse a filter without bits but with hashes"
        )
    }

    @Test("A filter without bits has no names, and one that does not fit is refused")
    func emptyFilters() {
        #expect(BloomFilter(bits: [], padding: 0, hashCount: 0)?.mayContain("a") == false)
        #expect(BloomFilter(bits: [1], padding: 8, hashCount: 1) == nil)
        #expect(BloomFilter(bits: [1], padding: 0, hashCount: 0) == nil)
        #expect(BloomFilter(bits: [], padding: 1, hashCount: 1) == nil)
    }
}
