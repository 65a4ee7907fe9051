#if PostgreSQL
import Dispatch
import Foundation
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelStoragePostgreSQL

@Suite("Connections to PostgreSQL that are cut at each step of a commit")
struct CutConnectionTests {
    /// A batch that adds one to a number, and leaves a document as proof.
    func batch(_ name: String) -> WriteBatch {
        WriteBatch([
            DocumentWrite("counters/all", .update([FieldChange("n", .transform(.increment(1)))])),
            DocumentWrite(DocumentPath("notes/\(name)"), .set(DocumentBody(["id": .string(name)]))),
        ])
    }

    private func commit(
        _ batch: WriteBatch,
        to adapter: some StorageAdapter
    ) async -> Result<CommitReceipt, StorageError> {
        do throws(StorageError) {
            return try await adapter.commit([batch])[0]
        } catch { return .failure(error) }
    }

    /// Returns how many changes of each note there are after a cursor.
    func counts(
        after start: ChangeCursor,
        in adapter: some StorageAdapter
    ) async throws -> [String: Int] {
        var counts: [String: Int] = [:]
        var request = ChangeRequest(after: start)
        while true {
            let page = try await adapter.changes(request)
            for change in page.changes where change.path.collection == "notes" {
                counts[change.path.id, default: 0] += 1
            }
            guard !page.isCaughtUp else { return counts }
            request.after = page.next
        }
    }

    @Test("Each commit has the effect that is reported to its caller")
    func eachStep() async throws {
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        defer { relay.stop() }
        let store = UUID().uuidString
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) { $0.store = store }
        let observer = try await PostgreSQLStorageAdapter.test(at: server.port) { $0.store = store }
        _ = try await commit(batch("first"), to: adapter).get()
        let start = try await observer.changes(ChangeRequest()).next
        relay.arm(nil)
        _ = try await commit(batch("counted"), to: adapter).get()
        let steps = relay.steps
        // At least a request and an answer, twice.
        #expect(steps >= 4)
        var acknowledged: Set<String> = ["counted"]
        for step in 0..<steps {
            for part in CuttingRelay.Cut.Part.allCases {
                let name = "\(step)-\(part)"
                relay.arm(.init(step: step, part: part))
                switch await commit(batch(name), to: adapter) {
                case .success: acknowledged.insert(name)
                case .failure(let error):
                    #expect(error.effect == StorageError.Effect.none, "\(name): \(error)")
                    #expect(error.code.isTransient, "\(name): \(error)")
                }
                #expect(!relay.isArmed, "\(name) was not cut")
                relay.arm(nil)
                let next = await commit(batch(name + "-next"), to: adapter)
                #expect(throws: Never.self, "\(name)") { try next.get() }
                acknowledged.insert(name + "-next")
            }
        }
        let counts = try await counts(after: start, in: observer)
        #expect(counts == Dictionary(uniqueKeysWithValues: acknowledged.map { ($0, 1) }))
        let total = try await StorageClient(observer).getDocument("counters/all")["n"]
        #expect(total == .integer(Int64(acknowledged.count + 1)))
        await adapter.close()
        await observer.close()
    }

    @Test("A commit has an unknown effect if the server that answers afterwards lacks the store")
    func losesTheStore() async throws {
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        defer { relay.stop() }
        let (former, present) = (UUID().uuidString, UUID().uuidString)
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) { $0.store = former }
        for name in ["first", "second"] { _ = try await commit(batch(name), to: adapter).get() }
        relay.arm(nil)
        _ = try await commit(batch("counted"), to: adapter).get()
        relay.arm(
            .init(step: relay.steps - 1, part: .nothing) {
                // The server has answered, so the row is free. From now on it is one without the store.
                let renamed = DispatchSemaphore(value: 0)
                Task {
                    _ = try? await server.run(
                        """
                        UPDATE keel.stores SET name = '\(present)'::bytea
                        WHERE name = '\(former)'::bytea
                        """
                    )
                    renamed.signal()
                }
                renamed.wait()
            }
        )
        let result = await commit(batch("lost"), to: adapter)
        let error = #expect(throws: StorageError.self) { try result.get() }
        #expect(error?.effect == .unknown)
        await adapter.close()
        let observer = try await PostgreSQLStorageAdapter.test(at: server.port) {
            $0.store = present
        }
        let lost = try await StorageClient(observer).getDocument("notes/lost")["id"]
        #expect(lost == .string("lost"))
        await observer.close()
    }

    /// The ways in which a COMMIT gets no answer.
    enum Loss: CaseIterable { case cut, silence }

    @Test("Maintenance whose COMMIT got no answer has an unknown effect", arguments: Loss.allCases)
    func losesTheAnswer(_ loss: Loss) async throws {
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        let silence = DispatchSemaphore(value: 0)
        defer {
            silence.signal()
            relay.stop()
        }
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) {
            $0.store = UUID().uuidString
        }
        try await adapter.maintaining { _, _ in }
        relay.arm(nil)
        try await adapter.maintaining { _, _ in }
        // The last step is the answer to the COMMIT.
        relay.arm(
            .init(step: relay.steps - 1, part: .nothing) { if loss == .silence { silence.wait() } }
        )
        let runs = Counter()
        let error = await #expect(throws: StorageError.self) {
            try await adapter.maintaining { snapshot, _ in
                // After a cut, the work runs again.
                guard runs.next() == 1 else { throw StorageError(.busy, "the second run fails") }
                // Only for the COMMIT: what comes before it may take longer on a busy machine.
                if loss == .silence { snapshot.connection.answerLimit = .milliseconds(100) }
            }
        }
        #expect(error?.code == (loss == .cut ? .busy : .timeout))
        #expect(error?.effect == .unknown)
        await adapter.close()
    }

    @Test("Commits that are repeated over cut connections take effect once")
    func randomSteps() async throws {
        let seed = UInt64.random(in: .min ... .max)
        var random = SeededRandom(seed: seed)
        let server = try await PostgreSQLServer.shared.value
        let relay = try CuttingRelay(to: server.port)
        defer { relay.stop() }
        let store = UUID().uuidString
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port) { $0.store = store }
        let observer = try await PostgreSQLStorageAdapter.test(at: server.port) { $0.store = store }
        _ = try await commit(batch("first"), to: adapter).get()
        let start = try await observer.changes(ChangeRequest()).next
        let writers = 8
        let each = TestLength.count(40, thorough: 500)
        let (progress, telling) = AsyncStream.makeStream(of: Void.self)
        let cuts = try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<writers {
                group.addTask {
                    let retrying = adapter.retrying(.attempts(100))
                    for number in 0..<each {
                        _ = try await commit(batch("\(writer)-\(number)"), to: retrying).get()
                        telling.yield()
                    }
                }
            }
            var (count, cuts) = (0, 0)
            for await _ in progress {
                count += 1
                guard count < writers * each else { break }
                guard count.isMultiple(of: 4) else { continue }
                let part = CuttingRelay.Cut.Part.allCases.randomElement(using: &random)
                relay.arm(.init(step: Int.random(in: 0..<6, using: &random), part: part ?? .half))
                cuts += 1
            }
            try await group.waitForAll()
            return cuts
        }
        let counts = try await counts(after: start, in: observer)
        #expect(counts.count == writers * each, "seed \(seed), \(cuts) cuts")
        #expect(counts.values.allSatisfy { $0 == 1 }, "seed \(seed)")
        let total = try await StorageClient(observer).getDocument("counters/all")["n"]
        #expect(total == .integer(Int64(writers * each + 1)), "seed \(seed)")
        await adapter.close()
        await observer.close()
    }

    /// Follows changes until as many notes as expected have come, and checks that each came once.
    private func follow(
        _ adapter: some StorageAdapter,
        after start: ChangeCursor,
        expecting count: Int
    ) async throws {
        var counts: [String: Int] = [:]
        var request = ChangeRequest(after: start, waitTimeout: .seconds(10))
        while counts.count < count {
            let page = try await adapter.changes(request)
            for change in page.changes where change.path.collection == "notes" {
                counts[change.path.id, default: 0] += 1
            }
            request.after = page.next
        }
        #expect(counts.values.allSatisfy { $0 == 1 })
    }

    /// The steps at which a primary is killed: all of a group's in the nightly run, and those around its `COMMIT`, which
    /// is in the second request, for a change.
    static let kills = TestLength.isThorough ? Array(0..<6) : [2, 3]

    @Test(
        "A primary is killed at a step of a commit, and its synchronous standby promoted",
        arguments: kills,
        CuttingRelay.Cut.Part.allCases
    )
    func kill(step: Int, part: CuttingRelay.Cut.Part) async throws {
        let (primary, standby) = try await PostgreSQLServer.pair(isSynchronous: true)
        defer { for server in [standby, primary] { server.stop() } }
        let relay = try CuttingRelay(to: primary.port)
        defer { relay.stop() }
        let adapter = try await PostgreSQLStorageAdapter.test(at: relay.port, standby.port)
        // The relay counts the steps of commits only.
        let listening = try await PostgreSQLStorageAdapter.test(at: primary.port, standby.port)
        _ = try await commit(batch("first"), to: adapter).get()
        let start = try await adapter.changes(ChangeRequest()).next
        let (kills, killing) = AsyncStream.makeStream(of: ContinuousClock.Instant.self)
        relay.arm(
            .init(step: step, part: part) {
                primary.stop()
                killing.yield(.now)
            }
        )
        try await withThrowingTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    let retrying = adapter.retrying(.attempts(100))
                    for number in 0..<5 {
                        _ = try await commit(batch("\(writer)-\(number)"), to: retrying).get()
                    }
                }
            }
            group.addTask {
                let retrying = listening.retrying(.attempts(100))
                try await follow(retrying, after: start, expecting: 21)
            }
            for await killed in kills {
                try await standby.run("SELECT pg_promote()")
                let promoted = ContinuousClock.now
                let retrying = adapter.retrying(.attempts(100))
                _ = try await commit(batch("promoted"), to: retrying).get()
                print(
                    "step \(step), \(part): promoted after \(promoted - killed),",
                    "first commit \(ContinuousClock.now - promoted) later"
                )
                break
            }
            try await group.waitForAll()
        }
        #expect(!relay.isArmed)
        let counts = try await counts(after: start, in: adapter)
        #expect(counts.count == 21)
        #expect(counts.values.allSatisfy { $0 == 1 })
        let total = try await StorageClient(adapter).getDocument("counters/all")["n"]
        #expect(total == 22)
        for adapter in [adapter, listening] { await adapter.close() }
    }
}
#endif
