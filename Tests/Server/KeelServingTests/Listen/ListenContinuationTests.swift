import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

#if SQLite
import KeelStorageSQLite
#endif

@Suite("Tokens of quiet streams, and of stores that are opened again", .timeLimit(.minutes(2)))
struct ListenContinuationTests {
    private static let target = ListenTarget(
        id: 2,
        content: .query(DocumentQuery("notes").where(.equal("color", "red")))
    )

    private static func commit(
        _ writes: [DocumentWrite],
        to store: any StorageAdapter
    ) async throws {
        for result in try await store.commit([WriteBatch(writes)]) { _ = try result.get() }
    }

    private static func write(_ path: DocumentPath, color: String) -> DocumentWrite {
        DocumentWrite(path, .set(DocumentBody(["color": .string(color)])))
    }

    @Test("A quiet client receives the store’s time and a token, which moves on")
    func heartbeats() async throws {
        let store = InMemoryStorageAdapter()
        let clock = TestClock()
        var configuration = ListenStream.Configuration()
        configuration.clock = clock
        #expect(configuration.heartbeat == .seconds(30))
        let points = Mutex<[ListenResponse.TargetChange]>([])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(
            hub: ListenHub(adapter: store),
            configuration: configuration
        ) { response in
            guard case .target(let change) = response, change.kind == .noChange else { return }
            points.withLock { $0.append(change) }
        }
        requests.continuation.yield(.add(Self.target))
        async let ended = stream.run(requests.stream)
        try await waitUntil { points.withLock(\.count) == 1 }
        try await waitUntil {
            await clock.advance(by: .seconds(30))
            return points.withLock(\.count) > 1
        }
        #expect(clock.elapsed >= .seconds(60), "in the first interval the client is not quiet")
        let all = points.withLock { $0 }
        let beat = try #require(all.last)
        #expect(beat.targets.isEmpty)
        #expect(beat.token != nil)
        #expect(beat.readTime != nil)
        // A document elsewhere moves the token on, which so does not expire.
        try await Self.commit([Self.write("others/1", color: "red")], to: store)
        try await waitUntil {
            await clock.advance(by: .seconds(30))
            return points.withLock(\.last)?.token != beat.token
        }
        requests.continuation.finish()
        #expect(await ended == nil)
    }

    #if SQLite
    /// Returns what a client receives up to the first consistent point.
    private static func messages(
        of target: ListenTarget,
        from store: any StorageAdapter
    ) async -> [ListenResponse] {
        let messages = Mutex<[ListenResponse]>([])
        let requests = AsyncStream.makeStream(of: ListenRequest.self)
        let stream = ListenStream(hub: ListenHub(adapter: store)) { response in
            messages.withLock { $0.append(response) }
            guard case .target(let change) = response, change.kind == .noChange else { return }
            requests.continuation.finish()
        }
        requests.continuation.yield(.add(target))
        #expect(await stream.run(requests.stream) == nil)
        return messages.withLock { $0 }
    }

    /// The documents of messages, those that left, and the kinds of the other messages.
    private struct Summary {
        var found: Set<DocumentPath> = []
        var gone: Set<DocumentPath> = []
        var kinds: [ListenResponse.TargetChange.Kind] = []
        var token: ResumeToken?

        init(_ messages: [ListenResponse]) {
            for message in messages {
                switch message {
                case .document(let change): found.insert(change.document.path)
                case .departure(let departure): gone.insert(departure.path)
                case .filter: break
                case .target(let change):
                    kinds.append(change.kind)
                    token = change.token ?? token
                }
            }
        }
    }

    @Test("A token continues with exactly the changes after it once the store is opened again")
    func reopened() async throws {
        let folder = try URL.makeTemporaryFolder()
        defer { try? FileManager.default.removeItem(at: folder) }
        let file = folder.appending(path: "store.sqlite")
        let former = try SQLiteStorageAdapter(at: .file(file))
        let writes = (0..<20).map { Self.write(DocumentPath("notes/\($0)"), color: "red") }
        try await Self.commit(writes, to: former)
        let first = Summary(await Self.messages(of: Self.target, from: former))
        #expect(first.found.count == 20)
        try former.close()

        let store = try SQLiteStorageAdapter(at: .file(file))
        try await Self.commit(
            [
                Self.write("notes/1", color: "blue"), DocumentWrite("notes/2", .delete),
                Self.write("notes/99", color: "red"), Self.write("others/1", color: "red"),
            ],
            to: store
        )
        let token = try #require(first.token)
        var resumed = Self.target
        resumed.resumption = token
        resumed.isResumed = true
        let second = Summary(await Self.messages(of: resumed, from: store))
        #expect(second.kinds == [.add, .current, .noChange], "nothing is read again")
        #expect(second.found == ["notes/99"])
        #expect(second.gone == ["notes/1", "notes/2"])
        try store.close()
    }
    #endif
}
