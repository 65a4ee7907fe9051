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

@Suite("Change streams during store failures")
struct ChangeStreamFaultTests {
    private let clock = TestClock()

    private func service(_ adapter: any StorageAdapter) -> ChangeService {
        ChangeService(adapter, on: clock)
    }

    @Test("The shared reader retries, and no listener misses a change")
    func transient() async throws {
        let memory = InMemoryStorageAdapter()
        let store = StorageClient(memory)
        let adapter = FlakyChanges(memory)
        let service = service(adapter)
        var stream = try await service.stream()
        #expect(try await stream.names(1) == ["checkpoint"])
        adapter.fail(with: .busy, times: 2)
        try await store.setDocument("a/1", ["n": 1])
        try await store.setDocument("a/2", ["n": 1])
        var found: Set<String> = []
        let clock = clock
        let advancing = Task { while !Task.isCancelled { await clock.advance(by: .seconds(1)) } }
        while found.count < 2, let name = try await stream.nextName() {
            if name != "checkpoint" { found.insert(name) }
        }
        advancing.cancel()
        #expect(found == ["change a/1", "change a/2"])
    }

    @Test("Listeners read on their own when the shared reader's cursor has expired")
    func expired() async throws {
        let memory = InMemoryStorageAdapter()
        let store = StorageClient(memory)
        let adapter = FlakyChanges(memory)
        let service = service(adapter)
        var streams = [try await service.stream(), try await service.stream("collection=a")]
        for index in streams.indices { _ = try await streams[index].next() }
        adapter.fail(with: .cursorExpired, times: 1)
        try await store.setDocument("a/1", ["n": 1])
        try await store.setDocument("a/2", ["n": 1])
        for index in streams.indices {
            var found: Set<String> = []
            while found.count < 2, let name = try await streams[index].nextName() {
                #expect(name != "reset")
                if name != "checkpoint" { found.insert(name) }
            }
            #expect(found == ["change a/1", "change a/2"])
        }
        // All streams are live on a shared reader again.
        try await store.setDocument("a/3", ["n": 1])
        for index in streams.indices {
            var name = try await streams[index].nextName()
            while name == "checkpoint" { name = try await streams[index].nextName() }
            #expect(name == "change a/3")
        }
    }

    @Test("A shared reader that gives up stops its heartbeat")
    func heartbeatEnds() async throws {
        let memory = InMemoryStorageAdapter()
        let adapter = FlakyChanges(memory)
        let service = service(adapter)
        var stream: SyncStream? = try await service.stream()
        _ = try await stream?.names(1)
        for number in 0..<3 {
            adapter.fail(with: .cursorExpired, times: 1)
            try await StorageClient(memory).setDocument("a/\(number)", ["n": 1])
            _ = try await stream?.names(upTo: "change a/\(number)")
            // The next reader reads a page, and so does not pause after the next failure.
            try await StorageClient(memory).setDocument("b/\(number)", ["n": 1])
            _ = try await stream?.names(upTo: "change b/\(number)")
        }
        stream = nil
        #expect(service.listenerCount == 0)
        try await waitUntil { clock.sleeperCount == 0 }
    }

    @Test("No changes between a listener's own page and its live phase are missed")
    func between() async throws {
        let memory = InMemoryStorageAdapter()
        let adapter = FlakyChanges(memory)
        let service = service(adapter)
        var other = try await service.stream()
        _ = try await other.next()
        let gate = Gate()
        adapter.hold(at: gate)
        let joining = Task { try await service.stream() }
        try await waitUntil { gate.begunCount != 0 }
        try await StorageClient(memory).setDocument("a/1", ["n": 1])
        #expect(try await other.names(2) == ["change a/1", "checkpoint"])
        gate.open()
        var stream = try await joining.value
        #expect(try await stream.names(3) == ["checkpoint", "change a/1", "checkpoint"])
    }

    @Test("An unreadable document is named and ends no stream")
    func corrupted() async throws {
        let memory = InMemoryStorageAdapter()
        let store = StorageClient(memory)
        let service = service(memory)
        var concerned = try await service.stream("collection=a")
        var other = try await service.stream("collection=b")
        _ = try await (concerned.next(), other.next())
        let broken = DocumentWrite("a/1", .set(DocumentBody(bytes: [0xFF])))
        _ = try await memory.commit([WriteBatch([broken])])
        let told = try #require(try await concerned.next())
        #expect(told.type == "change" && told.data.contains("unreadable"))
        try await store.setDocument("b/1", ["n": 1])
        #expect(try await other.names(2) == ["change b/1", "checkpoint"])
        #expect(try await service.ask("events").head.status == .ok)
        #expect(try await service.ask("changes").head.status == .ok)
    }
}

/// A store whose waits for changes fail a few times.
///
/// Only waits fail, which are those of the shared reader.
final class FlakyChanges: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    private let faults = Mutex<(code: StorageError.Code, times: Int)>((.unknown, 0))

    init(_ upstream: InMemoryStorageAdapter) { self.upstream = upstream }

    private let gate = Mutex<Gate?>(nil)

    /// Delays the next page of a listener's own after it was read.
    func hold(at gate: Gate) { self.gate.withLock { $0 = gate } }

    func fail(with code: StorageError.Code, times: Int) { faults.withLock { $0 = (code, times) } }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let page = try await upstream.changes(request)
        let fault = faults.withLock { faults -> StorageError.Code? in
            guard request.waitTimeout != nil, faults.times > 0 else { return nil }
            faults.times -= 1
            return faults.code
        }
        let gate = request.waitTimeout == nil ? gate.withLock { $0.take() } : nil
        _ = try? await gate?.pass()
        if let fault { throw StorageError(fault, "made to fail") }
        return page
    }
}
