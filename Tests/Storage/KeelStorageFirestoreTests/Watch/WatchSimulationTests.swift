import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Testing

/// A server and a client whose stream breaks off at random: what the client publishes is what the server had then.
@Suite("A Listen stream that breaks off at random places")
struct WatchSimulationTests {
    @Test("Each publication is the result at its time", arguments: 0..<120)
    func isExact(seed: UInt64) throws {
        var simulation = WatchSimulation(seed: seed)
        for _ in 0..<150 { try simulation.step() }
        try simulation.finish()
        #expect(simulation.flaws == [], "seed \(seed)")
        #expect(simulation.publicationCount > 3, "seed \(seed)")
    }
}

private struct WatchSimulation {
    private static let database = "projects/p/databases/(default)"

    private struct Row: Equatable {
        var version: Int64
        var bucket: Int
    }

    private typealias State = [String: Row]

    private var random: SeededRandom
    private var machine = WatchMachine(database: database)
    private(set) var flaws: [String] = []
    private(set) var publicationCount = 0
    private var nextTarget: Int32 = 2
    // The server.
    private var time: Int64 = 1
    private var state: State = [:]
    /// The states by the times at which they began.
    private var past: [Int64: State] = [1: [:]]
    /// The documents of each target that the server has sent on the present stream.
    private var told: [Int32: State] = [:]
    /// The messages that have not arrived.
    private var wire: [WatchMessage] = []

    init(seed: UInt64) { random = SeededRandom(seed: seed) }

    // MARK: Steps

    mutating func step() throws {
        switch Int.random(in: 0..<12, using: &random) {
        case 0..<4: commit()
        case 4..<6: flush()
        case 6..<9: try deliver(upTo: Int.random(in: 1...12, using: &random))
        case 9:
            guard machine.ids.count < 5 else { return }
            nextTarget += 2
            try take(machine.add(nextTarget, []))
        case 10:
            let ids = machine.ids
            guard let id = ids.randomElement(using: &random) else { return }
            try take(Bool.random(using: &random) ? machine.remove(id) : machine.reload(id))
        default:
            // Messages in transit are lost.
            (wire, told) = ([], [:])
            try take(machine.reconnect())
        }
    }

    mutating func finish() throws {
        try take(machine.add(nextTarget + 2, []))
        // A target that is read again needs another round.
        for _ in 0..<3 {
            flush()
            try deliver(upTo: .max)
        }
        for id in machine.ids { check(id, at: time) }
    }

    private mutating func commit() {
        for _ in 0..<Int.random(in: 1...3, using: &random) {
            let id = "d\(Int.random(in: 0..<12, using: &random))"
            if Int.random(in: 0..<4, using: &random) == 0 {
                state[id] = nil
            } else {
                state[id] = Row(version: time + 1, bucket: Int.random(in: 0..<3, using: &random))
            }
        }
        time += 1
        past[time] = state
    }

    private static func bucket(of target: Int32) -> Int { Int(target / 2) % 3 }

    private static func result(of target: Int32, in state: State) -> State {
        state.filter { $0.value.bucket == bucket(of: target) }
    }

    // MARK: The server

    /// Sends what has changed for every target, and that all are consistent.
    private mutating func flush() {
        for id in told.keys.sorted() {
            if Int.random(in: 0..<5, using: &random) == 0 {
                wire.append(Self.change(.reset, [id], nil))
                told[id] = [:]
                sendDifference(of: id, naming: true)
                wire.append(Self.change(.current, [id], time))
            } else {
                sendDifference(of: id, naming: true)
            }
        }
        wire.append(Self.change(.noChange, [], time))
    }

    private mutating func sendDifference(of id: Int32, naming namesLeavers: Bool) {
        let (old, new) = (told[id] ?? [:], Self.result(of: id, in: state))
        for (name, row) in new.sorted(by: { $0.key < $1.key }) where old[name] != row {
            wire.append(.document(Self.document(name, row), targets: [id], removed: []))
        }
        for name in old.keys.sorted() where new[name] == nil && namesLeavers {
            let path = DocumentPath("c/\(name)")
            let now = Timestamp(microseconds: time)
            guard let row = state[name] else {
                wire.append(.departure(path, isDeleted: true, removed: [id], at: now))
                continue
            }
            wire.append(
                Bool.random(using: &random)
                    ? .departure(path, isDeleted: false, removed: [id], at: now)
                    : .document(Self.document(name, row), targets: [], removed: [id])
            )
        }
        told[id] = new
    }

    private mutating func answer(_ request: FirestoreJSON) throws {
        if let id = request["removeTarget"]?.wholeNumber.map(Int32.init) {
            told[id] = nil
            wire.append(Self.change(.remove, [id], nil))
            return
        }
        let target = try #require(request["addTarget"])
        let id = try #require(target["targetId"]?.wholeNumber.map(Int32.init))
        wire.append(Self.change(.add, [id], nil))
        let token = target["resumeToken"]?.text.flatMap(Base64.decode)
        let known = try token.map { try #require(past[Int64($0[0]) << 8 | Int64($0[1])]) }
        let way = Int.random(in: 0..<3, using: &random)
        told[id] = known.map { Self.result(of: id, in: $0) } ?? [:]
        switch (known, way) {
        case (nil, _), (_?, 0): sendDifference(of: id, naming: true)
        case (_?, 1):
            // A server that does not know what has left tells what is there.
            sendDifference(of: id, naming: false)
            let names = Self.result(of: id, in: state).keys.map {
                "\(Self.database)/documents/c/\($0)"
            }
            // Few bits, so that the filter is often wrong.
            let filter = Bool.random(using: &random) ? BloomFilter(names, bitCount: 61) : nil
            wire.append(.filter(ExistenceFilter(target: id, count: names.count, names: filter)))
        default:
            wire.append(Self.change(.reset, [id], nil))
            told[id] = [:]
            sendDifference(of: id, naming: true)
        }
        wire.append(Self.change(.current, [id], time))
    }

    private static func change(
        _ kind: WatchMessage.TargetChange.Kind,
        _ targets: [Int32],
        _ time: Int64?
    ) -> WatchMessage {
        var change = WatchMessage.TargetChange(kind: kind)
        change.targets = targets
        if let time {
            change.time = Timestamp(microseconds: time)
            change.token = [UInt8(time >> 8), UInt8(time & 255)]
        }
        return .target(change)
    }

    private static func document(_ id: String, _ row: Row) -> ChangePage.Change {
        let time = Timestamp(microseconds: row.version)
        return .current(
            Document.stub(
                DocumentPath("c/\(id)"),
                ["bucket": .integer(Int64(row.bucket))],
                revision: row.version,
                at: time
            )
        )
    }

    // MARK: The client

    private mutating func deliver(upTo count: Int) throws {
        for _ in 0..<min(count, 1_000) where !wire.isEmpty {
            try take(machine.receive(wire.removeFirst()))
        }
    }

    private mutating func take(_ effects: [WatchMachine.Effect]) throws {
        for effect in effects {
            switch effect {
            case .send(let request): try answer(request)
            case .publish(let id, let publication):
                publicationCount += 1
                check(id, at: publication.time.microseconds)
            case .expire(let id): flaws.append("target \(id) was expired")
            case .reload: break
            case .fail(let id, let error): flaws.append("target \(id) failed: \(error)")
            }
        }
    }

    private mutating func check(_ id: Int32, at time: Int64) {
        let result = Self.result(of: id, in: past[time] ?? [:])
        let expected = result.sorted { $0.key < $1.key }.map { Self.document($0.key, $0.value) }
        let shown = machine.members(of: id)?.sorted { $0.path.id < $1.path.id }
        if shown != expected { flaws.append("target \(id) is not that of time \(time)") }
    }
}
