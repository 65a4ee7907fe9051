import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Change streams")
struct ChangeStreamTests {
    private let adapter = InMemoryStorageAdapter(changeLogCapacity: 100)
    private var store: StorageClient { StorageClient(adapter) }

    private func service(
        _ change: (inout ChangeService.Configuration) -> Void = { _ in }
    ) -> ChangeService {
        ChangeService(adapter, change)
    }

    @Test("A stream starts with the current documents and continues with changes")
    func live() async throws {
        let service = service()
        for id in ["1", "2"] { try await store.setDocument("a/\(id)", ["n": 1]) }
        var stream = try await service.stream()
        #expect(try await stream.names(3) == ["change a/1", "change a/2", "checkpoint"])
        try await store.setDocument("b/1", ["n": 1])
        #expect(try await stream.names(2) == ["change b/1", "checkpoint"])
        try await store.deleteDocument("a/1")
        let event = try #require(try await stream.next())
        #expect(event.data.contains("\"deleted\":true"))
    }

    @Test("An empty store's stream begins with a checkpoint")
    func empty() async throws {
        var stream = try await service { $0.makeEpoch = { "e" } }.stream()
        let event = try #require(try await stream.next())
        #expect(event.type == "checkpoint")
        #expect(event.data.hasPrefix(#"{"epoch":"e","time":""#))
        #expect(!event.lastEventID.isEmpty)
    }

    @Test("A long catch-up is sent in parts from which a client can continue")
    func parts() async throws {
        for part in 0..<3 {
            try await store.commit { batch in
                for id in 0..<300 { try batch.set("a/\(part * 300 + id)", ["n": 1]) }
            }
        }
        let service = service()
        var stream = try await service.stream()
        let first = try await stream.names(upTo: "progress")
        var rest = try await service.stream(lastEventID: stream.lastID)
        let second = try await rest.names(upTo: "checkpoint")
        #expect(first.count < 900)
        #expect(Set(first + second).count == 900)
        #expect(first.count + second.count == 900)
    }

    @Test(
        "A client that returns with the last event id gets the new changes regardless of its cursor"
    )
    func resumes() async throws {
        let service = service()
        var stream = try await service.stream()
        let first = try #require(try await stream.next()).lastEventID
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await stream.names(2) == ["change a/1", "checkpoint"])
        let last = stream.lastID
        try await store.setDocument("a/2", ["n": 1])
        var again = try await service.stream("cursor=\(first)", lastEventID: last)
        #expect(try await again.names(2) == ["change a/2", "checkpoint"])
        var older = try await service.stream("cursor=\(first)")
        #expect(try await older.names(3) == ["change a/1", "change a/2", "checkpoint"])
    }

    @Test("Other collections and the server's own records are not sent")
    func scope() async throws {
        let service = service()
        var stream = try await service.stream("collection=a&collection=a%2F1%2Fb")
        #expect(try await stream.names(1) == ["checkpoint"])
        let own = DocumentWrite("__keel_sync__/1", .set(DocumentBody(["n": 1])))
        _ = try await adapter.commit([WriteBatch([own])])
        for path: DocumentPath in ["b/1", "a/1/b/1", "a/1"] {
            try await store.setDocument(path, ["n": 1])
        }
        var names = Set<String>()
        while names.count < 2, let name = try await stream.nextName() {
            if name != "checkpoint" { names.insert(name) }
        }
        #expect(names == ["change a/1/b/1", "change a/1"])
        var all = try await service.stream()
        #expect(try await !all.names(4).contains { $0.contains("__") })
    }

    @Test("A stream without content sends only checkpoints")
    func points() async throws {
        try await store.setDocument("a/1", ["n": 1])
        var stream = try await service().stream("content=none&collection=a")
        #expect(try await stream.names(1) == ["checkpoint"])
        try await store.setDocument("a/1", ["n": 2])
        #expect(try await stream.names(1) == ["checkpoint"])
    }

    @Test("Each listener gets documents under its own database name")
    func databases() async throws {
        let service = service()
        var one = try await service.stream("database=projects/p/databases/one")
        var two = try await service.stream("database=projects/p/databases/two")
        _ = try await (one.next(), two.next())
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await one.next()?.data.contains("projects/p/databases/one/doc") == true)
        #expect(try await two.next()?.data.contains("projects/p/databases/two/doc") == true)
    }

    /// Commits a mutation of the client `phone`.
    private func mutate(_ number: Int64, _ fields: DocumentFields) async throws {
        let write = try DocumentWrite.set(fields, at: "a/1")
        let origin = ChangeOrigin(client: "phone", mutation: number)
        for result in try await adapter.commit([WriteBatch([write], origin: origin)]) {
            _ = try result.get()
        }
    }

    @Test(
        "Mutations are acknowledged if their client came after the page was requested, or if they change nothing"
    )
    func acknowledgments() async throws {
        let waits = AnsweredWaits(adapter)
        var configuration = ChangeService.Configuration()
        configuration.clock = TestClock()
        let service = ChangeService(adapter: waits, configuration: configuration)
        var other = try await service.stream()
        _ = try await other.next()
        try await waitUntil { waits.count == 1 }
        var stream = try await service.stream("client=phone&document=a%2F1")
        #expect(try await stream.names(1) == ["checkpoint"])
        try await mutate(1, ["n": 1])
        waits.answerLast()
        #expect(try await stream.names(1) == ["change a/1"])
        let changed = try #require(try await stream.next()).data
        try #require(changed.contains(#""acknowledged":{"phone":"1"}"#))
        try await waitUntil { waits.count == 2 }
        try await mutate(2, ["n": 1])
        waits.answerLast()
        let unchanged = try #require(try await stream.next())
        #expect(unchanged.type == "checkpoint")
        #expect(unchanged.data.contains(#""acknowledged":{"phone":"2"}"#))
    }

    @Test("An expired cursor sends a reset and ends the stream")
    func reset() async throws {
        let service = service()
        var stream = try await service.stream()
        _ = try await stream.next()
        for number in Int64(0)..<200 { try await store.setDocument("a/1", ["n": .integer(number)]) }
        var late = try await service.stream(lastEventID: stream.lastID)
        #expect(try await late.names(2) == ["reset"])
        #expect(service.listenerCount == 1)
    }
}

/// A store that answers a request that waits for changes when a test says so.
private final class AnsweredWaits: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let gates = Mutex<[Gate]>([])

    init(_ upstream: any StorageAdapter) { self.upstream = upstream }

    /// The number of such requests.
    var count: Int { gates.withLock { $0.count } }

    func answerLast() { gates.withLock { $0.last }?.open() }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var request = request
        if request.waitTimeout != nil {
            request.waitTimeout = nil
            let gate = Gate()
            gates.withLock { $0.append(gate) }
            _ = try? await gate.pass()
        }
        return try await upstream.changes(request)
    }
}
