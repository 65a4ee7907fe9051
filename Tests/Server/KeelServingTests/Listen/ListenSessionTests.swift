import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Streams of changes for Firestore's clients")
struct ListenSessionTests {
    @Test("What a client shows equals the query at the time of each consistent point")
    func simulation() async throws {
        let seed = SeededRandom.printedSeed()
        var (snapshots, resumptions, resets) = (0, 0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 400, thorough: 5_000)
        for run in 0..<UInt64(runs) {
            var simulation = ListenSimulation(seed: seed &+ run)
            do {
                try await simulation.run(steps: 150)
            } catch { return await report(error, seed: seed &+ run) }
            snapshots += simulation.client.snapshotCount
            resumptions += simulation.resumptions
            resets += simulation.resets
        }
        #expect(snapshots > 3 * runs)
        #expect(resumptions > runs / 2)
        #expect(resets > runs / 20)
    }

    @Test("A client that has lost track of its documents finds out when it resumes")
    func divergence() async throws {
        let seed = SeededRandom.printedSeed()
        var (filters, repetitions) = (0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 400, thorough: 5_000)
        // Some seeds give few filters, and repetitions are rare: then there are more runs.
        let most = 20 * runs
        var run = 0
        while run < runs || run < most && (filters <= runs / 10 || repetitions == 0) {
            let runSeed = seed &+ UInt64(run)
            var simulation = ListenSimulation(seed: runSeed, drifts: true)
            do {
                try await simulation.run(steps: 150)
            } catch { return await report(error, seed: runSeed, drifts: true) }
            filters += simulation.client.filterCount
            repetitions += simulation.client.repetitionCount
            run += 1
        }
        #expect(filters > runs / 10)
        #expect(repetitions > 0)
    }

    @Test("A resumption costs a count, and a filter only if the number does not fit")
    func filters() {
        var target = ListenTarget(id: 2, content: .query(DocumentQuery("notes")))
        target.resumption = ResumeToken(Self.point(1).position)
        target.isResumed = true
        target.expectedCount = 3
        for (count, paths) in [(3, nil), (2, ["notes/a", "notes/b"])] as [(Int, [String]?)] {
            var session = ListenSession()
            _ = session.handle(.request(.add(target)))
            #expect(Self.words(session.handle(.caughtUp(1, [], at: Self.point(2)))) == ["read 2"])
            let words = Self.words(session.handle(.counted(2, count, at: Self.point(2))))
            guard let paths else {
                #expect(words == ["current [2]", "noChange [] token"])
                continue
            }
            #expect(words == ["read 3"], "the names of the documents")
            let time = Timestamp(microseconds: 1)
            let documents = paths.map { path in Document.stub(DocumentPath(path), at: time) }
            #expect(
                Self.words(session.handle(.loaded(3, documents, at: Self.point(2))))
                    == ["filter 2 2 names", "current [2]", "noChange [] token"]
            )
        }
    }

    @Test(
        "A number of documents that no client can have is ignored",
        arguments: [(3, 3), (0, 0), (-1, nil), (1 << 31, nil), (.max, nil)] as [(Int64, Int?)]
    )
    func expectedCounts(_ count: Int64, _ expected: Int?) throws {
        let request = try ListenCoding(database: Served.database).request([
            "addTarget": [
                "targetId": .integer(2), "resumeToken": "AQE=", "expectedCount": .integer(count),
                "query": ["structuredQuery": ["from": [["collectionId": "notes"]]]],
            ]
        ])
        guard case .add(let target) = request else { return fail("\(request)") }
        #expect(target.expectedCount == expected)
    }

    // MARK: Single rules

    private static func target(_ id: Int32) -> ListenSession.Event {
        .request(.add(ListenTarget(id: id, content: .query(DocumentQuery("notes")))))
    }

    static func point(_ number: UInt8) -> ListenSession.Point {
        .init(position: ChangeCursor(bytes: [number]), time: Timestamp(microseconds: Int64(number)))
    }

    /// Returns the messages about targets among effects, and the status of the stream's end.
    static func words(_ effects: [ListenSession.Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .send(.target(let change)):
                "\(change.kind) \(change.targets)" + (change.token == nil ? "" : " token")
                    + (change.cause.map { " \($0.status.name)" } ?? "")
            case .send(.filter(let filter)):
                "filter \(filter.target) \(filter.count)" + (filter.paths == nil ? "" : " names")
            case .end(let failure): "end \(failure.status.name)"
            case .read(let id, _): "read \(id)"
            case .send, .catchUp, .follow: nil
            }
        }
    }

    @Test("A target is acknowledged, complete, and removed once")
    func acknowledgements() {
        var session = ListenSession()
        #expect(Self.words(session.handle(Self.target(2))) == ["add [2]", "read 1"])
        #expect(
            Self.words(session.handle(.loaded(1, [], at: Self.point(1))))
                == ["current [2]", "noChange [] token"]
        )
        #expect(Self.words(session.handle(.beat)) == ["noChange [] token"])
        #expect(Self.words(session.handle(.request(.remove(2)))) == ["remove [2]"])
        #expect(session.handle(.request(.remove(2))).isEmpty)
        #expect(session.handle(.loaded(1, [], at: Self.point(1))).isEmpty, "nobody waits for it")
    }

    @Test("A number that is in use ends the stream, and too many targets are refused one by one")
    func limits() {
        var session = ListenSession()
        for id in 1...Int32(ListenSession.mostTargets) { _ = session.handle(Self.target(id)) }
        let words = Self.words(session.handle(Self.target(5_000)))
        #expect(words == ["add [5000]", "remove [5000] RESOURCE_EXHAUSTED"])
        #expect(Self.words(session.handle(Self.target(1))) == ["end INVALID_ARGUMENT"])
    }

    @Test(
        "A target that cannot be served is refused, and the server numbers targets without a number"
    )
    func rejections() {
        var session = ListenSession()
        let refusal = StreamFailure(.invalidArgument, "the query has too many conditions")
        let words = Self.words(session.handle(.request(.reject(2, refusal))))
        #expect(words == ["add [2]", "remove [2] INVALID_ARGUMENT"])
        #expect(Self.words(session.handle(Self.target(2))) == ["add [2]", "read 1"])
        #expect(Self.words(session.handle(Self.target(0))) == ["add [3]", "read 2"])
        #expect(
            Self.words(session.handle(.request(.reject(2, refusal)))) == ["end INVALID_ARGUMENT"]
        )
    }

    @Test(
        "What concerns its query ends a target; the state of the store ends the stream",
        arguments: StorageError.Code.known
    )
    func failures(code: StorageError.Code) {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        let error = StorageError(code, "the store fails")
        let words = Self.words(session.handle(.failed(1, error)))
        let statuses: [StorageError.Code: String] = [
            .unsupported: "UNIMPLEMENTED", .indexRequired: "FAILED_PRECONDITION",
            .tooLarge: "RESOURCE_EXHAUSTED",
        ]
        // Clients resume a stream that ends.
        guard let status = statuses[code] else {
            #expect(words == ["end UNAVAILABLE"])
            return
        }
        #expect(words == ["remove [2] \(status)"])
        #expect(session.handle(.request(.remove(2))).isEmpty, "the server has removed it first")
    }

    @Test("No token is sent while a target is incomplete")
    func tokens() {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        _ = session.handle(Self.target(4))
        #expect(
            Self.words(session.handle(.loaded(1, [], at: Self.point(1))))
                == ["current [2] token", "noChange []"]
        )
        #expect(
            Self.words(session.handle(.loaded(2, [], at: Self.point(1))))
                == ["current [4]", "noChange [] token"]
        )
    }

    // MARK: Documents

    static func document(_ path: DocumentPath, color: String = "red") -> Document {
        let time = Timestamp(microseconds: 1)
        return Document.stub(path, ["color": .string(color)], at: time)
    }

    static func page(_ number: UInt8, _ changes: [ChangePage.Change]) -> ChangePage {
        let point = point(number)
        return ChangePage(
            changes: changes,
            next: point.position,
            isCaughtUp: true,
            time: point.time
        )
    }

    /// Returns a page with a change of each of some documents.
    static func page(_ number: UInt8, of count: Int) -> ListenSession.Event {
        .page(page(number, (0..<count).map { .current(document(DocumentPath("notes/\($0)"))) }))
    }

    @Test(
        "A deletion has its own time, so that a newer state of another target outlasts it",
        arguments: [5, nil]
    )
    func deletion(_ microseconds: Int64?) {
        var session = ListenSession()
        let content = ListenTarget.Content.documents(["notes/a"])
        _ = session.handle(.request(.add(ListenTarget(id: 2, content: content))))
        _ = session.handle(.loaded(1, [Self.document("notes/a")], at: Self.point(3)))
        let time = microseconds.map(Timestamp.init(microseconds:))
        // The page does not end at a consistent state.
        let page = ChangePage(
            changes: [.removed("notes/a", Revision(number: 2), at: time)],
            next: Self.point(7).position,
            isCaughtUp: false
        )
        let departures = session.handle(.page(page)).compactMap { effect in
            if case .send(.departure(let departure)) = effect { departure } else { nil }
        }
        #expect(departures.map(\.path) == ["notes/a"])
        #expect(departures.map(\.isDeleted) == [time != nil])
        #expect(departures.map(\.readTime) == [time])
    }

    /// Returns the documents of the messages among effects.
    static func paths(_ effects: [ListenSession.Effect]) -> [DocumentPath] {
        effects.compactMap { effect in
            switch effect {
            case .send(.document(let change)): change.document.path
            case .send(.departure(let departure)): departure.path
            default: nil
            }
        }
    }

    /// Returns a session whose target of red notes has been resumed at the second point, and whose names are read.
    private static func resumed() -> ListenSession {
        let red = DocumentQuery("notes").where(.equal("color", "red"))
        var target = ListenTarget(id: 2, content: .query(red))
        (target.resumption, target.isResumed) = (ResumeToken(point(1).position), true)
        var session = ListenSession()
        _ = session.handle(.request(.add(target)))
        let words = words(session.handle(.caughtUp(1, [], at: point(2))))
        #expect(words == ["read 2", "current [2]", "noChange [] token"])
        return session
    }

    @Test("A client that has resumed is not told of the documents that others add")
    func names() {
        var session = Self.resumed()
        #expect(session.equalities.isEmpty)
        _ = session.handle(.loaded(2, [Self.document("notes/a")], at: Self.point(2)))
        #expect(session.equalities[2]?.1 == ["notes/a"])
        for number: UInt8 in 3..<100 {
            let blue = Self.document(DocumentPath("notes/\(number)"), color: "blue")
            #expect(session.handle(.page(Self.page(number, [.current(blue)]))).isEmpty)
        }
        #expect(session.equalities[2]?.1 == ["notes/a"])
        let blue = Self.document("notes/a", color: "blue")
        let effects = session.handle(.page(Self.page(100, [.current(blue)])))
        #expect(Self.paths(effects) == ["notes/a"])
    }

    @Test("Names that are newer than the stream are used once the stream has reached them")
    func newerNames() {
        var session = Self.resumed()
        // Another document has left the result before they were read, and one has come to it.
        _ = session.handle(.loaded(2, [Self.document("notes/b")], at: Self.point(4)))
        #expect(session.equalities.isEmpty && session.needsEveryPage)
        let blue = Self.document("notes/a", color: "blue")
        let changes: [ChangePage.Change] = [.current(blue), .current(Self.document("notes/b"))]
        let effects = session.handle(.page(Self.page(3, changes)))
        #expect(Self.paths(effects) == ["notes/a", "notes/b"])
        #expect(session.equalities.isEmpty)
        _ = session.handle(.page(Self.page(4, [])))
        #expect(session.equalities[2]?.1 == ["notes/b"])
        #expect(!session.needsEveryPage)
    }

    @Test("A client continues without names that are too many or cannot be read")
    func missingNames() {
        let many = (0...TargetView.mostNames).map { Self.document(DocumentPath("notes/\($0)")) }
        let away = StorageError(.unavailable, "the store is away")
        for event: ListenSession.Event in [.loaded(2, many, at: Self.point(2)), .failed(2, away)] {
            var session = Self.resumed()
            #expect(session.handle(event).isEmpty)
            #expect(session.equalities.isEmpty && !session.needsEveryPage)
            let gone = ChangePage.Change.removed("notes/a", Revision(number: 2))
            #expect(Self.paths(session.handle(.page(Self.page(3, [gone])))) == ["notes/a"])
        }
    }

    @Test("A target becomes complete although its collection changes during each read")
    func busyCollection() {
        var session = ListenSession(mostKeptChanges: 1)
        _ = session.handle(Self.target(2))
        _ = session.handle(.loaded(1, [], at: Self.point(1)))
        _ = session.handle(Self.target(4))
        _ = session.handle(Self.page(2, of: 2))
        #expect(Self.words(session.handle(.loaded(2, [], at: Self.point(1)))) == ["read 3"])
        _ = session.handle(Self.page(3, of: 2))
        let words = Self.words(session.handle(.loaded(3, [], at: Self.point(2))))
        #expect(words == ["current [4]", "noChange [] token"])
    }

    @Test("A stream ends, and its client comes back, if a target changes faster than it is read")
    func restlessCollection() {
        var session = ListenSession(mostKeptChanges: 1)
        _ = session.handle(Self.target(2))
        _ = session.handle(.loaded(1, [], at: Self.point(1)))
        _ = session.handle(Self.target(4))
        var words: [String] = []
        for round: UInt8 in 0..<4 {
            _ = session.handle(Self.page(round + 2, of: 50))
            let read = ListenSession.ReadID(round) + 2
            words += Self.words(session.handle(.loaded(read, [], at: Self.point(round + 1))))
        }
        // The SDKs would never listen again to a target that is removed.
        #expect(words == ["read 3", "read 4", "read 5", "end UNAVAILABLE"])
    }

    @Test("A target in parts takes the changes between them, and is shown after the last")
    func parts() {
        var session = ListenSession(mostKeptChanges: 1)
        _ = session.handle(Self.target(2))
        let first = ListenSession.Event.part(1, [Self.document("notes/a")], at: Self.point(1))
        #expect(Self.paths(session.handle(first)) == ["notes/a"])
        let changes: [ChangePage.Change] = [
            .current(Self.document("notes/b", color: "blue")),
            .removed("notes/a", Revision(number: 2)),
        ]
        var effects = session.handle(.page(Self.page(2, changes)))
        #expect(Self.paths(effects) == ["notes/b", "notes/a"])
        #expect(Self.words(effects).isEmpty)
        // More changes than a session keeps for a read.
        effects = session.handle(Self.page(3, of: 50))
        #expect(Self.paths(effects).count == 50 && Self.words(effects).isEmpty)
        let old = (["notes/b", "notes/c", "notes/7"] as [DocumentPath]).map { Self.document($0) }
        effects = session.handle(.part(1, old, at: Self.point(1)))
        #expect(Self.paths(effects) == ["notes/c"], "the others have changed since")
        effects = session.handle(.loaded(1, [Self.document("notes/d")], at: Self.point(1)))
        #expect(Self.paths(effects) == ["notes/d"])
        #expect(Self.words(effects) == ["current [2]", "noChange [] token"])
    }

    @Test("Nothing is shown while a target has some of its documents, also after a restart")
    func partialTarget() {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        _ = session.handle(.loaded(1, [], at: Self.point(1)))
        _ = session.handle(Self.target(4))
        let first = ListenSession.Event.part(2, [Self.document("notes/a")], at: Self.point(1))
        #expect(Self.words(session.handle(first)).isEmpty)
        #expect(Self.words(session.handle(Self.page(2, of: 1))).isEmpty)
        #expect(Self.words(session.handle(.beat)).isEmpty)
        #expect(Self.words(session.handle(.restarted)) == ["read 3", "read 4"])
        #expect(Self.words(session.handle(.loaded(3, [], at: Self.point(3)))).isEmpty)
        let effects = session.handle(.loaded(4, [], at: Self.point(3)))
        #expect(Set(Self.paths(effects)) == ["notes/0", "notes/a"], "they are gone")
        #expect(Self.words(effects) == ["current [4]", "noChange [] token"])
    }

    @Test("A resumed target that has been read in part is read again, and not resumed")
    func partialResumption() {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        _ = session.handle(.loaded(1, [], at: Self.point(2)))
        var target = ListenTarget(id: 4, content: .query(DocumentQuery("notes")))
        target.resumption = ResumeToken(Self.point(1).position)
        target.isResumed = true
        _ = session.handle(.request(.add(target)))
        #expect(Self.words(session.handle(.cannotResume(2))) == ["read 3"])
        let part = [Self.document("notes/a")]
        let effects = session.handle(.part(3, part, at: Self.point(2)))
        #expect(Self.words(effects) == ["reset [4]"])
        #expect(Self.words(session.handle(.restarted)) == ["read 4", "read 5"])
        _ = session.handle(.loaded(4, [], at: Self.point(5)))
        // The second read is of a state before the first one.
        #expect(Self.words(session.handle(.part(5, part, at: Self.point(4)))) == ["read 6"])
        let words = Self.words(session.handle(.loaded(6, part, at: Self.point(5))))
        #expect(words == ["current [4]", "noChange [] token"])
    }

    @Test("A target in parts begins again once if its snapshot is lost, and then its stream ends")
    func lostSnapshot() {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        let lost = StorageError(.snapshotTooOld, "the snapshot has been held for too long")
        func part(of read: ListenSession.ReadID) -> ListenSession.Event {
            .part(read, [Self.document("notes/a")], at: Self.point(1))
        }
        _ = session.handle(part(of: 1))
        #expect(Self.words(session.handle(.failed(1, lost))) == ["read 2"])
        #expect(session.handle(part(of: 1)).isEmpty, "nobody waits for it")
        #expect(Self.words(session.handle(part(of: 2))) == ["reset [2]"])
        // The SDKs come back after this status; a target that is removed would be gone for good.
        #expect(Self.words(session.handle(.failed(2, lost))) == ["end UNAVAILABLE"])
    }

    @Test("Of the changes during a read, only the last one of each document is kept")
    func keptPages() {
        var kept = KeptPages(mostChanges: 2)
        kept.begin(after: Self.point(1).position)
        for number: UInt8 in 2..<50 {
            let change = ChangePage.Change.current(Self.document("notes/a", color: "\(number)"))
            kept.append(Self.page(number, [change]))
        }
        #expect(kept.drops == 0 && kept.start == Self.point(1).position)
        let changes = kept.pages.flatMap(\.changes)
        #expect(changes.count <= 2)
        #expect(changes.last == .current(Self.document("notes/a", color: "49")))
        #expect(kept.pages.last?.next == Self.point(49).position)
    }

    @Test("Changes that fill their room again soon are dropped, and not looked through each time")
    func fullPages() {
        var kept = KeptPages(mostChanges: 10)
        kept.begin(after: Self.point(1).position)
        var drops: [Int] = []
        for number: UInt8 in 2..<120 {
            let document = Self.document("notes/\(number % 9)", color: "red")
            kept.append(Self.page(number, [.current(document)]))
            drops.append(kept.drops)
        }
        // Of 11 changes, nine are kept; the second one that follows fills the room, and the next room is large enough.
        #expect(drops.firstIndex(of: 1) == 12)
        #expect(drops.last == 1)
    }

    /// Reports the shortest run of a seed that fails.
    private func report(_ error: any Error, seed: UInt64, drifts: Bool = false) async {
        for steps in 1..<150 {
            var simulation = ListenSimulation(seed: seed, drifts: drifts)
            do { try await simulation.run(steps: steps) } catch {
                let trace = simulation.trace.suffix(60).joined(separator: "\n")
                Issue.record("KEEL_SEED=\(seed), \(steps) steps: \(error)\n\(trace)")
                return
            }
        }
        Issue.record("KEEL_SEED=\(seed): \(error)")
    }
}
