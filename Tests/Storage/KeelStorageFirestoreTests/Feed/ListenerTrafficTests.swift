import Foundation
import KeelConformance
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@Suite("Network traffic of listeners", .timeLimit(.minutes(2)))
struct ListenerTrafficTests {
    private let store = InMemoryStorageAdapter()
    private let wire: CountingTransport
    private let phone: StorageClient

    private var server: StorageClient { StorageClient(store) }

    init() throws {
        wire = CountingTransport(HandlerTransport(StorageServer(adapter: store)))
        phone = StorageClient(try Self.adapter(over: wire))
    }

    private static func adapter(
        over transport: some HTTPTransport
    ) throws -> FirestoreStorageAdapter {
        let address = try #require(URL(string: "http://127.0.0.1"))
        return FirestoreStorageAdapter(.keel(address), transport: transport)
    }

    private func writeOthers() async throws {
        let text = DocumentValue.string(String(repeating: "other", count: 100))
        for number in Int64(0)..<1_000 {
            try await server.setDocument(
                "loud/\(number % 10)",
                ["text": text, "n": .integer(number)]
            )
            try await server.setDocument("notes/theirs", ["text": text, "n": .integer(number)])
        }
    }

    @Test("A document listener receives nothing of a thousand other documents")
    func oneDocument() async throws {
        try await server.setDocument("notes/mine", ["n": 0])
        var snapshots = phone.listenToDocument("notes/mine").makeAsyncIterator()
        #expect(try await snapshots.next()?.document?["n"] == 0)
        try await writeOthers()
        try await server.setDocument("notes/mine", ["n": 1])
        #expect(try await snapshots.next()?.document?["n"] == 1)
        #expect(!wire.text.contains("other"))
        print("one document: \(wire.text.utf8.count) bytes for 2,000 changes of others")
        #expect(wire.text.utf8.count < 16_384)
    }

    @Test("A query listener receives matching documents and only the paths of others")
    func oneQuery() async throws {
        try await server.setDocument("notes/mine", ["n": -1])
        let query = DocumentQuery("notes").where(.less("n", 0))
        var snapshots = phone.listen(to: query).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.map(\.id) == ["mine"])
        try await writeOthers()
        try await server.setDocument("notes/second", ["n": -2])
        #expect(try await snapshots.next()?.documents.map(\.id) == ["second", "mine"])
        try await server.setDocument("notes/mine", ["n": 5])
        #expect(try await snapshots.next()?.documents.map(\.id) == ["second"])
        #expect(!wire.text.contains("other"))
    }

    @Test("Two listeners each receive their own documents, even if one starts later")
    func two() async throws {
        for path: DocumentPath in ["notes/a", "notes/b"] {
            try await server.setDocument(path, ["n": 0])
        }
        var first = phone.listenToDocument("notes/a").makeAsyncIterator()
        _ = try await first.next()
        try await server.setDocument("notes/a", ["n": 1])
        #expect(try await first.next()?.document?["n"] == 1)
        var second = phone.listenToDocument("notes/b").makeAsyncIterator()
        #expect(try await second.next()?.document?["n"] == 0)
        for number in Int64(2)..<20 {
            try await server.setDocument("notes/b", ["n": .integer(number)])
            #expect(try await second.next()?.document?["n"] == .integer(number))
            try await server.setDocument("notes/a", ["n": .integer(number)])
            #expect(try await first.next()?.document?["n"] == .integer(number))
        }
    }

    @Test("Listeners that come and go at random end with the store's state", arguments: 1...12)
    func random(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let collections: [CollectionPath] = ["a", "b", "c"]
        var listeners: [Task<Void, any Error>] = []
        for round in 0..<40 {
            for _ in 0..<Int.random(in: 0..<4, using: &random) {
                let collection = collections[Int.random(in: 0..<3, using: &random)]
                let path = collection.document("\(Int.random(in: 0..<4, using: &random))")
                try await server.setDocument(path, ["n": .integer(Int64(round))])
            }
            if listeners.count < 4 {
                let collection = collections[Int.random(in: 0..<3, using: &random)]
                let isWhole = Bool.random(using: &random)
                listeners.append(
                    Task { [phone] in
                        let query =
                            isWhole
                            ? DocumentQuery(collection)
                            : DocumentQuery(collection).where(.greaterOrEqual("n", 20))
                        for try await snapshot in phone.listen(to: query)
                        where snapshot.documents.contains(where: { $0["n"] == 1_000 }) { return }
                    }
                )
            } else if Bool.random(using: &random) {
                listeners.remove(at: Int.random(in: 0..<listeners.count, using: &random)).cancel()
            }
        }
        // Each listener ends with the last write to its collection, or never.
        for collection in collections {
            try await server.setDocument(collection.document("last"), ["n": 1_000])
        }
        for listener in listeners { try await listener.value }
    }

    @Test("A client receives the origin and acknowledgment of its own writes")
    func origins() async throws {
        var request = ChangeRequest()
        let adapter = try Self.adapter(over: wire)
        request.clients = ["phone"]
        request.after = try await adapter.changes(request).next
        for waits in [false, true] {
            request.waitTimeout = waits ? .seconds(600) : nil
            for number in Int64(1)...3 {
                let mutation = number + (waits ? 10 : 0)
                let own = ChangeOrigin(client: "phone", mutation: mutation)
                let write = try DocumentWrite.set(["n": .integer(mutation)], at: "a/own")
                let waiting = waits ? Task { [request] in try await adapter.changes(request) } : nil
                for result in try await adapter.commit([WriteBatch([write], origin: own)]) {
                    _ = try result.get()
                }
                let page =
                    if let waiting { try await waiting.value } else {
                        try await adapter.changes(request)
                    }
                #expect(page.changes.map(\.path) == ["a/own"])
                #expect(page.origins == ["a/own": own])
                #expect(page.acknowledged == ["phone": mutation])
                request.after = page.next
            }
        }
    }
}

/// A transport that records the text of all replies.
private final class CountingTransport: HTTPTransport {
    private let upstream: any HTTPTransport
    private let received = Mutex<[UInt8]>([])

    init(_ upstream: any HTTPTransport) { self.upstream = upstream }

    var features: HTTPTransportFeatures { upstream.features }
    var text: String { received.withLock { String(decoding: $0, as: UTF8.self) } }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        var reply = try await upstream.send(call)
        reply.body = reply.body.mapReads { [self] read async throws(TransportError) in
            let chunk = try await read()
            if let chunk { received.withLock { $0 += chunk } }
            return chunk
        }
        return reply
    }

    func shutdown() async { await upstream.shutdown() }
}
