import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Streams over gRPC", .timeLimit(.minutes(5)))
struct GRPCStreamTests {
    private static let database = FirestoreJSON.string(Served.database)

    private typealias Client = GRPCStreamClient

    private static func update(_ path: String, _ number: Int) -> FirestoreJSON {
        [
            "update": [
                "name": .string(Served.name(path)),
                "fields": ["n": ["integerValue": .string("\(number)")]],
            ]
        ]
    }

    private static func commit(_ served: Served, _ path: String, _ number: Int) async throws {
        let answer = try await served.call(
            .commit,
            ["database": database, "writes": [update(path, number)]]
        )
        #expect(answer.status == 0)
    }

    /// Reads until all targets are consistent, and returns the numbers of the documents.
    private static func state(_ client: Client) async throws -> [Int64?] {
        var numbers: [Int64?] = []
        while let message = try await client.next() {
            if let change = message["documentChange"] {
                #expect(change["targetIds"] == [.integer(7)])
                numbers.append(change["document"]?["fields"]?["n"]?["integerValue"]?.wholeNumber)
            }
            let change = message["targetChange"]
            if let change, change["targetIds"] == nil, change["readTime"] != nil { return numbers }
        }
        Issue.record("The stream has ended: \(client.message ?? "")")
        return numbers
    }

    @Test("a listener sees what there is, and each commit")
    func listening() async throws {
        let served = Served()
        try await Self.commit(served, "notes/1", 1)
        let client = await Client(.listen, of: served)
        try client.send(.addTarget(7, "notes"))
        #expect(try await Self.state(client) == [1])
        for number in 2...5 {
            try await Self.commit(served, "notes/2", number)
            #expect(try await Self.state(client) == [Int64(number)])
        }
        client.finish()
        #expect(try await client.status() == 0)
    }

    @Test("writes of a stream are applied in order")
    func writing() async throws {
        let served = Served()
        let client = await Client(.write, of: served)
        try client.send(["database": Self.database])
        let handshake = try #require(try await client.next())
        let token = try #require(handshake["streamToken"])
        for number in 1...3 {
            try client.send(["streamToken": token, "writes": [Self.update("notes/1", number)]])
        }
        for _ in 1...3 {
            let reply = try #require(try await client.next())
            #expect(reply["writeResults"]?.elements?.count == 1)
            #expect(reply["commitTime"] != nil)
        }
        client.finish()
        #expect(try await client.status() == 0)
        let read = try await served.call(.getDocument, ["name": .string(Served.name("notes/1"))])
        #expect(read.messages.first?["fields"] == ["n": ["integerValue": "3"]])
    }

    @Test("a shutdown ends streams, so that clients connect elsewhere")
    func shutdown() async throws {
        let served = Served()
        let client = await Client(.listen, of: served)
        try client.send(.addTarget(7, "notes"))
        _ = try await Self.state(client)
        served.server.shutDown()
        #expect(try await client.status() == 14)
    }

    @Test("a shutdown ends a stream that has not named its database")
    func silentShutdown() async throws {
        for method in [GRPCMethod.listen, .write] {
            let served = Served(databases: ["b": InMemoryStorageAdapter(clock: TestClock())])
            let client = await Client(method, of: served)
            served.server.shutDown()
            #expect(try await client.status() == 14)
        }
    }

    @Test("a shutdown waits for a commit, whose reply spares the client to repeat it")
    func shutdownWhileCommitting() async throws {
        let store = SlowCommits()
        let served = Served(store)
        let listener = await Client(.listen, of: served)
        try listener.send(.addTarget(7, "notes"))
        _ = try await Self.state(listener)
        let writer = await Client(.write, of: served)
        try writer.send(["database": Self.database])
        let token = try #require(try await writer.next()?["streamToken"])
        for number in 1...2 {
            try writer.send(["streamToken": token, "writes": [Self.update("notes/1", number)]])
        }
        try await waitUntil { store.gate.begunCount == 1 }
        served.server.shutDown()
        // The shutdown has reached the streams.
        #expect(try await listener.status() == 14)
        store.gate.open()
        let reply = try #require(try await writer.next())
        #expect(reply["writeResults"]?.elements?.count == 1)
        #expect(try await writer.status() == 14)
        #expect(store.gate.cancelledCount == 0)
    }

    @Test("a stream more than the server has room for is refused, and the others go on")
    func tooMany() async throws {
        let served = Served { $0.maximumListeners = 1 }
        let client = await Client(.listen, of: served)
        try client.send(.addTarget(7, "notes"))
        #expect(try await Self.state(client) == [])
        for method in [GRPCMethod.listen, .write] {
            let other = await Client(method, of: served)
            #expect(try await other.status() == 8)
            #expect(other.message?.contains("1 streams") == true)
        }
        try await Self.commit(served, "notes/1", 1)
        #expect(try await Self.state(client) == [1])
        client.finish()
        #expect(try await client.status() == 0)
    }

    @Test("a malformed message ends the stream with its reason")
    func malformed() async throws {
        let client = await Client(.listen, of: Served())
        client.send(bytes: StorageServer.frame([0xFF]))
        #expect(try await client.status() == 3)
        #expect(client.message?.contains("ListenRequest") == true)

        let compressed = await Client(.write, of: Served())
        compressed.send(bytes: [1, 0, 0, 0, 0])
        #expect(try await compressed.status() == 12)
    }

    @Test("a stream ends at its time limit")
    func deadline() async throws {
        let client = await Client(.listen, of: Served(), [.grpcTimeout: "0m"])
        try client.send(.addTarget(7, "notes"))
        #expect(try await client.status() == 4)
    }

    @Test("a sender that is canceled, because its stream ends, does not wait for its client")
    func canceledSender() async throws {
        let outbox = GRPCOutbox()
        let sender = Task { try await outbox.send([UInt8](repeating: 1, count: 100_000)) }
        sender.cancel()
        await #expect(throws: TransportError.self) { try await sender.value }
        outbox.finish(StreamFailure(.unavailable, "the server is shutting down"))
        #expect(try await outbox.next()?.count == 100_000)
        #expect(try await outbox.next() == nil)
        #expect(outbox.trailers?[.grpcStatus] == "14")
    }

    @Test("a sender waits for a client that is behind, until it reads or leaves")
    func backpressure() async throws {
        for leaves in [false, true] {
            let outbox = GRPCOutbox()
            let large = [UInt8](repeating: 1, count: 100_000)
            let sent = AsyncStream.makeStream(of: Void.self)
            let sender = Task {
                try await outbox.send(large)
                sent.continuation.yield()
                try await outbox.send(large)
                outbox.finish(nil)
            }
            if leaves {
                outbox.close()
                await #expect(throws: TransportError.self) { try await sender.value }
            } else {
                #expect(try await outbox.next()?.count == 100_000)
                for await _ in sent.stream { break }
                #expect(try await outbox.next()?.count == 100_000)
                #expect(try await outbox.next() == nil)
                #expect(outbox.trailers?[.grpcStatus] == "0")
                _ = await sender.result
            }
        }
    }
}
