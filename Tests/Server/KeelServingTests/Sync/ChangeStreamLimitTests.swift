import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Limits of change streams")
struct ChangeStreamLimitTests {
    private let adapter = InMemoryStorageAdapter()
    private let clock = TestClock()
    private var store: StorageClient { StorageClient(adapter) }

    private func service(
        _ change: (inout ChangeService.Configuration) -> Void = { _ in }
    ) -> ChangeService {
        ChangeService(adapter, on: clock, change)
    }

    /// Advances the clock by a number of beats.
    private func beat(_ count: Int) async {
        for _ in 0..<count { await clock.advance(by: .seconds(5), onceAsleep: 1) }
        await clock.waitForSleepers()
    }

    @Test("A comment is sent after fifteen seconds without an event")
    func heartbeat() async throws {
        let service = service()
        let body = try await service.ask("events").body
        var chunks = body.makeAsyncIterator()
        _ = try await chunks.next()
        await beat(3)
        #expect(try await chunks.next().map { String(decoding: $0, as: UTF8.self) } == ":\n\n")
        // An event restarts the count.
        await beat(2)
        try await store.setDocument("a/1", ["n": 1])
        _ = try await chunks.next()
        await beat(3)
        #expect(try await chunks.next().map { String(decoding: $0, as: UTF8.self) } == ":\n\n")
    }

    @Test("An unaffected listener is not woken and gets its position with the heartbeat")
    func lagging() async throws {
        let service = service()
        var idle = try await service.stream("collection=idle")
        var busy = try await service.stream()
        let start = try #require(try await idle.next()).lastEventID
        _ = try await busy.next()
        for number in Int64(0)..<5 {
            try await store.setDocument("a/1", ["n": .integer(number)])
            _ = try await busy.names(2)
        }
        await beat(3)
        let event = try #require(try await idle.next())
        #expect(event.type == "checkpoint")
        #expect(event.lastEventID == busy.lastID)
        #expect(event.lastEventID != start)
    }

    @Test("A slow reader is disconnected and misses nothing when it returns")
    func slow() async throws {
        let service = service { $0.mostBufferedBytes = 1_000 }
        var slow = try await service.stream()
        var quick = try await service.stream()
        _ = try await (slow.next(), quick.next())
        for number in 0..<10 {
            try await store.setDocument("a/\(number)", ["n": 1])
            _ = try await quick.names(2)
        }
        #expect(try await slow.next() == nil)
        #expect(service.listenerCount == 1)
        var again = try await service.stream(lastEventID: slow.lastID)
        #expect(try await again.names(11) == (0..<10).map { "change a/\($0)" } + ["checkpoint"])
    }

    @Test("The slowest readers are disconnected when too much is buffered in total")
    func manySlow() async throws {
        // No single stream exceeds its own limit.
        let service = service { $0.maximumBacklogBytes = 10_000 }
        var slow: [SyncStream] = []
        for number in 0..<10 { slow.append(try await service.stream("collection=a\(number)")) }
        for index in slow.indices { _ = try await slow[index].next() }
        var quick = try await service.stream()
        _ = try await quick.next()
        let text = DocumentValue.string(String(repeating: "x", count: 400))
        var written = 0
        // The backlog is smaller for the later streams in this order.
        for number in 0..<10 {
            for place in 0..<(20 - number) {
                try await store.setDocument("a\(number)/\(place)", ["text": text])
                _ = try await quick.names(2)
                written += 1
            }
        }
        #expect(service.waitingBytes <= 10_000)
        #expect(service.listenerCount == 11)
        var ended = 0
        for index in slow.indices {
            var names: [String] = []
            while let event = try await slow[index].next() {
                if event.type == "change" { names.append("change") }
                if names.count == 20 - index { break }
            }
            guard names.count < 20 - index else { continue }
            ended += 1
            // The stream misses nothing after it reconnects.
            var again = try await service.stream(
                "collection=a\(index)",
                lastEventID: slow[index].lastID
            )
            let rest = try await again.names(20 - index - names.count + 1)
            #expect(rest.count { $0.hasPrefix("change") } == 20 - index - names.count)
        }
        #expect((1..<10).contains(ended))
        // All events are released, those of the last page when its delivery has ended.
        slow = []
        try await waitUntil { service.waitingBytes == 0 }
        #expect(written == 155)
    }

    @Test("A caller with many slow readers is disconnected before another with a slower one")
    func slowCaller() async throws {
        let service = service { $0.maximumBacklogBytes = 10_000 }
        func open(_ collection: String, as user: String) async throws -> SyncStream {
            try await StorageContext().of(StoragePrincipal(id: user)).bind {
                var stream = try await service.stream("collection=\(collection)")
                _ = try await stream.next()
                return stream
            }
        }
        var bob = try await open("b", as: "bob")
        var ann: [SyncStream] = []
        for number in 0..<6 { ann.append(try await open("a\(number)", as: "ann")) }
        var quick = try await service.stream()
        _ = try await quick.next()
        // Less than a sixth of the limit each, with its event, and more than an eighth.
        let text = DocumentValue.string(String(repeating: "x", count: 1_300))
        for path in ["b/0", "b/1"] + (0..<6).map({ "a\($0)/0" }) {
            try await store.setDocument(DocumentPath(path), ["text": text])
            _ = try await quick.names(2)
        }
        #expect(service.waitingBytes <= 10_000)
        let all = ["change b/0", "checkpoint", "change b/1", "checkpoint"]
        #expect(try await bob.names(4) == all)
        var ended = 0
        for index in ann.indices {
            if try await ann[index].next() == nil { ended += 1 }
        }
        #expect((1..<6).contains(ended))
    }

    @Test("Readers that catch up read small pages while much is buffered")
    func manyBehind() async throws {
        let text = DocumentValue.string(String(repeating: "x", count: 10_000))
        for number in 0..<200 { try await store.setDocument("a/\(number)", ["text": text]) }
        let service = service {
            $0.maximumBacklogBytes = 1_000_000
            $0.smallPageBytes = 20_000
        }
        var replies: [HTTPByteStream.Iterator] = []
        var sizes: [Int] = []
        for _ in 0..<20 {
            var chunks = try await service.ask("events").body.makeAsyncIterator()
            sizes.append(try #require(try await chunks.next()).count)
            replies.append(chunks)
        }
        #expect(try #require(sizes.first) > 900_000)
        #expect(sizes.dropFirst(2).allSatisfy { $0 < 50_000 })
        #expect(replies.count == 20)
    }

    @Test("Listeners above the limit get status 429 until one leaves")
    func full() async throws {
        let service = service { $0.maximumListeners = 2 }
        let first = try await service.ask("events")
        var second: HTTPReply? = try await service.ask("events")
        let third = try await service.ask("events")
        #expect(third.head.status == .tooManyRequests)
        #expect(third.head.headerFields[.retryAfter] == "10")
        #expect(try await service.ask("changes").head.status == .ok)
        #expect(second?.head.status == .ok)
        second = nil
        #expect(service.listenerCount == 1)
        #expect(try await service.ask("events").head.status == .ok)
        _ = first
    }

    @Test("Dropping the body removes the listener, and the last one ends all work")
    func dropped() async throws {
        let service = service()
        var reply: HTTPReply? = try await service.ask("events")
        var chunks = try #require(reply).body.makeAsyncIterator()
        _ = try await chunks.next()
        #expect(service.listenerCount == 1)
        await clock.waitForSleepers()
        chunks = HTTPByteStream.empty.makeAsyncIterator()
        reply = nil
        #expect(service.listenerCount == 0)
        await clock.run()
        #expect(clock.sleeperCount == 0)
        // The reader starts again with the next stream.
        var stream = try await service.stream()
        #expect(try await stream.names(1) == ["checkpoint"])
        try await store.setDocument("a/1", ["n": 1])
        #expect(try await stream.names(2) == ["change a/1", "checkpoint"])
    }

    @Test("Canceling the reader ends its wait")
    func cancelled() async throws {
        let service = service()
        let body = try await service.ask("events").body
        var chunks = body.makeAsyncIterator()
        _ = try await chunks.next()
        let reader = Task {
            var chunks = body.makeAsyncIterator()
            return try await chunks.next()
        }
        await clock.waitForSleepers()
        reader.cancel()
        await expectError(TransportError.self, .cancelled) { try await reader.value }
    }

    @Test("A part of the streams can be ended")
    func part() async throws {
        let service = service()
        let readers = try await [service.stream(), service.stream("collection=a")].map { stream in
            Task {
                var stream = stream
                while try await stream.next() != nil {}
            }
        }
        service.end(oneOf: 2)
        try await waitUntil { service.listenerCount == 1 }
        service.end(oneOf: 1)
        for reader in readers { try await reader.value }
        #expect(service.listenerCount == 0)
    }

    @Test("Shutdown ends all streams and rejects later ones as unavailable")
    func shutDown() async throws {
        let service = service()
        var streams = [try await service.stream(), try await service.stream("collection=a")]
        for index in streams.indices { _ = try await streams[index].next() }
        let waiting = Task { [stream = streams[0]] in
            var stream = stream
            return try await stream.next()
        }
        await clock.waitForSleepers()
        service.shutDown()
        #expect(try await waiting.value == nil)
        #expect(try await streams[1].next() == nil)
        #expect(service.listenerCount == 0)
        let late = try await service.ask("events")
        #expect(late.head.status == .serviceUnavailable)
        #expect(late.head.headerFields[.retryAfter] == "1")
    }
}
