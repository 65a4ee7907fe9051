import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Streams of several servers")
struct ListenHubSimulationTests {
    private static let steps = 200

    @Test("What clients show equals their queries when streams overflow, fail and change servers")
    func simulation() async throws {
        let seed = SeededRandom.printedSeed()
        var (snapshots, resumptions, moves, falls) = (0, 0, 0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 250, thorough: 5_000)
        for run in 0..<UInt64(runs) {
            var simulation = ListenHubSimulation(seed: seed &+ run)
            do {
                try await simulation.run(steps: Self.steps)
            } catch { return await report(error, seed: seed &+ run) }
            snapshots += simulation.snapshotCount
            resumptions += simulation.resumptions
            moves += simulation.moves
            falls += simulation.falls
        }
        #expect(snapshots > 3 * runs)
        #expect(resumptions > runs / 2)
        #expect(moves > runs / 2)
        #expect(falls > runs / 20)
    }

    @Test("A stream is notified of a document that it has read and that left before its hub saw it")
    func strays() async throws {
        let store = InMemoryStorageAdapter()
        let hub = ListenHub(adapter: UnreadLog(upstream: store))
        let query = DocumentQuery("notes").where(.equal("color", "red"))
        let equality = try #require(TargetIndex.Equality(query))
        let mailbox = hub.open()
        defer { hub.close(mailbox) }
        hub.add(2, .query(query), for: mailbox)
        let start = try await Self.start(mailbox, of: hub, in: store)
        hub.index(2, by: equality, documents: [], for: mailbox)
        // As after too many changes: the stream reads for itself, and finds the document.
        mailbox.fallBehind()
        hub.attend(mailbox)
        try await Self.set("red", in: store)
        let end = try await Self.end(of: store)
        #expect(hub.join(mailbox, at: end))
        try await Self.set("blue", in: store)
        // The first reader of the hub finds both changes at once.
        let page = try await store.changes(ChangeRequest(after: start.position))
        hub.deliver(page, of: 1)
        #expect(mailbox.take().flatMap(\.changes).map(\.path) == ["notes/1"])
    }

    @Test("A hub notes no documents for a stream that has fallen behind", arguments: [false, true])
    func indexOfLate(hasNoRoom: Bool) async throws {
        let store = InMemoryStorageAdapter()
        let hub = ListenHub(
            adapter: UnreadLog(upstream: store),
            mostWaitingBytes: hasNoRoom ? 0 : 1 << 20,
            mostWaitingChanges: hasNoRoom ? 10 : 0
        )
        let query = DocumentQuery("notes").where(.equal("color", "red"))
        let equality = try #require(TargetIndex.Equality(query))
        let mailbox = hub.open()
        defer { hub.close(mailbox) }
        hub.add(2, .query(query), for: mailbox)
        let start = try await Self.start(mailbox, of: hub, in: store)
        hub.index(2, by: equality, documents: ["notes/0"], for: mailbox)
        #expect(hub.indexedDocumentCount == 1)
        try await Self.set("red", in: store)
        let page = try await store.changes(ChangeRequest(after: start.position))
        hub.deliver(page, of: 1)
        #expect(!mailbox.isLive)
        #expect(hub.indexedDocumentCount == 0)
    }

    @Test("The hub's position follows the changes before it, or is not given to the stream")
    func positions() async throws {
        let store = InMemoryStorageAdapter()
        let hub = ListenHub(adapter: UnreadLog(upstream: store), mostWaitingChanges: 1)
        let mailbox = hub.open()
        defer { hub.close(mailbox) }
        hub.add(2, .query(DocumentQuery("notes")), for: mailbox)
        var position = try await Self.start(mailbox, of: hub, in: store)
        for (count, expected) in [(1, ["notes/1", ""]), (2, [])] {
            for number in 0..<count {
                try await Self.set("color \(count)-\(number)", in: store)
                let page = try await store.changes(ChangeRequest(after: position.position))
                hub.deliver(page, of: 1)
                position = try await Self.end(of: store)
            }
            // The second change was one too many, and discarded the first.
            let pages = hub.takePages(of: mailbox)
            #expect(pages.map { $0.changes.first?.path.string ?? "" } == expected)
            #expect(pages.allSatisfy { $0.next == position.position })
        }
    }

    @Test("Nothing remains of a target that was added twice")
    func doubleTarget() async throws {
        let store = InMemoryStorageAdapter()
        let hub = ListenHub(adapter: UnreadLog(upstream: store))
        let mailbox = hub.open()
        defer { hub.close(mailbox) }
        hub.add(2, .query(DocumentQuery("notes")), for: mailbox)
        hub.add(2, .query(DocumentQuery("others")), for: mailbox)
        let start = try await Self.start(mailbox, of: hub, in: store)
        hub.remove(2, of: mailbox)
        try await Self.set("red", in: store)
        let page = try await store.changes(ChangeRequest(after: start.position))
        hub.deliver(page, of: 1)
        #expect(mailbox.take().isEmpty)
    }

    private static func set(_ color: String, in store: InMemoryStorageAdapter) async throws {
        let write = try DocumentWrite.set(["color": .string(color)], at: "notes/1")
        for result in try await store.commit([WriteBatch([write])]) { _ = try result.get() }
    }

    /// Makes a stream live, and returns its position.
    private static func start(
        _ mailbox: ListenMailbox,
        of hub: ListenHub,
        in store: InMemoryStorageAdapter
    ) async throws -> ListenSession.Point {
        let start = try await end(of: store)
        hub.attend(mailbox)
        #expect(hub.join(mailbox, at: start))
        return start
    }

    private static func end(of store: InMemoryStorageAdapter) async throws -> ListenSession.Point {
        var request = ReadRequest(.documents([]))
        (request.needsPosition, request.needsTime) = (true, true)
        let result = try await store.read(request)
        return ListenSession.Point(
            position: try #require(result.position),
            time: try #require(result.time)
        )
    }

    /// Reports the shortest run of a seed that fails.
    private func report(_ error: any Error, seed: UInt64) async {
        for steps in 1..<Self.steps {
            var simulation = ListenHubSimulation(seed: seed)
            do { try await simulation.run(steps: steps) } catch {
                let trace = simulation.trace.suffix(80).joined(separator: "\n")
                Issue.record("KEEL_SEED=\(seed), \(steps) steps: \(error)\n\(trace)")
                return
            }
        }
        Issue.record("KEEL_SEED=\(seed): \(error)")
    }
}
