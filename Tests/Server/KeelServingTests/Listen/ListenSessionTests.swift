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
        let seed = SeededRandom.chosenSeed()
        var (snapshots, resumptions, resets) = (0, 0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 400, thorough: 5_000)
        for run in 0..<UInt64(runs) {
            var simulation = ListenSimulation(seed: seed &+ run)
            do {
                try await simulation.run(steps: 150)
            } catch {
                return await report(error, seed: seed &+ run)
            }
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
        let seed = SeededRandom.chosenSeed()
        var (filters, repetitions) = (0, 0)
        let runs = TestLength.count("KEEL_LISTEN_RUNS", 400, thorough: 5_000)
        for run in 0..<UInt64(runs) {
            var simulation = ListenSimulation(seed: seed &+ run, drifts: true)
            do {
                try await simulation.run(steps: 150)
            } catch {
                return await report(error, seed: seed &+ run, drifts: true)
            }
            filters += simulation.client.filterCount
            repetitions += simulation.client.repetitionCount
        }
        #expect(filters > runs / 6)
        #expect(repetitions > runs / 100)
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
            let documents = paths.map { path in
                Document(
                    path: DocumentPath(path),
                    body: DocumentBody([:]),
                    revision: Revision(number: 1),
                    createTime: time,
                    updateTime: time
                )
            }
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
        guard case .add(let target) = request else {
            Issue.record("\(request)")
            return
        }
        #expect(target.expectedCount == expected)
    }

    // MARK: Single rules

    private static func target(_ id: Int32) -> ListenSession.Event {
        .request(.add(ListenTarget(id: id, content: .query(DocumentQuery("notes")))))
    }

    private static func point(_ number: UInt8) -> ListenSession.Point {
        .init(
            position: ChangeCursor(bytes: [number]),
            time: Timestamp(microseconds: Int64(number))
        )
    }

    /// Returns the messages about targets among effects, and the status of the stream's end.
    private static func words(_ effects: [ListenSession.Effect]) -> [String] {
        effects.compactMap { effect in
            switch effect {
            case .send(.target(let change)):
                "\(change.kind) \(change.targets)" + (change.token == nil ? "" : " token")
                    + (change.cause.map { " \($0.status.name)" } ?? "")
            case .send(.filter(let filter)):
                "filter \(filter.target) \(filter.count)"
                    + (filter.paths == nil ? "" : " names")
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
        #expect(
            Self.words(session.handle(Self.target(5_000)))
                == ["add [5000]", "remove [5000] RESOURCE_EXHAUSTED"]
        )
        #expect(Self.words(session.handle(Self.target(1))) == ["end INVALID_ARGUMENT"])
    }

    @Test(
        "A target that cannot be served is refused, and the server numbers targets without a number"
    )
    func rejections() {
        var session = ListenSession()
        let refusal = StreamFailure(.invalidArgument, "the query has too many conditions")
        #expect(
            Self.words(session.handle(.request(.reject(2, refusal))))
                == ["add [2]", "remove [2] INVALID_ARGUMENT"]
        )
        #expect(Self.words(session.handle(Self.target(2))) == ["add [2]", "read 1"])
        #expect(Self.words(session.handle(Self.target(0))) == ["add [3]", "read 2"])
        #expect(
            Self.words(session.handle(.request(.reject(2, refusal)))) == ["end INVALID_ARGUMENT"]
        )
    }

    @Test("A target fails for good, or the stream ends so that the client resumes it")
    func failures() {
        var session = ListenSession()
        _ = session.handle(Self.target(2))
        let away = StorageError(.unavailable, "the store is away")
        #expect(Self.words(session.handle(.failed(1, away))) == ["end UNAVAILABLE"])
        let refused = StorageError(.permissionDenied, "the store refuses")
        #expect(
            Self.words(session.handle(.failed(1, refused))) == ["remove [2] PERMISSION_DENIED"]
        )
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
