import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelToolsTestSupport
import Synchronization
import Testing

@Suite("A listener of `keel serve`", .timeLimit(.minutes(5)))
struct ServedListenerTests {
    @Test("A listener receives its document's changes, and none of a thousand others")
    func traffic() async throws {
        let folder = FileManager.default.temporaryDirectory.appending(path: UUID().uuidString)
        try FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true)
        defer { try? FileManager.default.removeItem(at: folder) }
        let process = try ServedProcess(folder.appending(path: "store.sqlite").path, port: 0)
        defer { process.kill() }
        let transport = AsyncHTTPClientTransport()
        let wire = CountingTransport(transport)
        let configuration = FirestoreStorageAdapter.Configuration.patient(process.address)
        let phone = StorageClient(FirestoreStorageAdapter(configuration, transport: wire))
        let others = StorageClient(FirestoreStorageAdapter(configuration, transport: transport))

        try await others.setDocument("notes/mine", ["n": 0])
        var snapshots = phone.listenToDocument("notes/mine").makeAsyncIterator()
        #expect(try await snapshots.next()?.document?["n"] == 0)
        let text = DocumentValue.string(String(repeating: "other", count: 100))
        for first in stride(from: 0, to: 1_000, by: 100) {
            try await others.commit { batch in
                for number in first..<first + 100 {
                    try batch.set("loud/\(number)", ["text": text])
                }
            }
            try await others.setDocument(
                "notes/theirs",
                ["text": text, "n": .integer(Int64(first))]
            )
        }
        try await others.setDocument("notes/mine", ["n": 1])
        #expect(try await snapshots.next()?.document?["n"] == 1)
        #expect(!wire.text.contains("other"))
        print(
            "a listener of one document: \(wire.text.utf8.count) bytes for 1,010 changes of others"
        )
        #expect(wire.text.utf8.count < 16_384)
        await transport.shutdown()
    }

    @Test("Over Google's protocol, a change costs a listener of 1,000 documents one document")
    func googleProtocol() async throws {
        let process = try ServedProcess(storage: "memory", port: 0)
        defer { process.kill() }
        let transport = AsyncHTTPClientTransport()
        let wire = CountingTransport(transport)
        var configuration = FirestoreStorageAdapter.Configuration.emulator(
            host: "127.0.0.1:\(process.port)",
            project: "notes"
        )
        configuration.timeout = .seconds(600)
        let adapter = FirestoreStorageAdapter(configuration, transport: wire)
        #expect(adapter.listening == .watch)
        let phone = StorageClient(adapter)
        let other = StorageClient(FirestoreStorageAdapter(configuration, transport: transport))
        for first in stride(from: 0, to: 1_000, by: 500) {
            try await other.commit { batch in
                for number in first..<first + 500 { try batch.set("notes/\(number)", ["n": 0]) }
            }
        }
        var snapshots = phone.listen(to: DocumentQuery("notes")).makeAsyncIterator()
        #expect(try await snapshots.next()?.documents.count == 1_000)
        let before = wire.text.utf8.count
        for number in 1...20 {
            try await other.setDocument("notes/7", ["n": .integer(Int64(number))])
            let changes = try await snapshots.next()?.changes
            #expect(changes?.map(\.document.path) == ["notes/7"])
        }
        let bytes = (wire.text.utf8.count - before) / 20
        print("a listener of 1,000 documents over Google's protocol: \(bytes) bytes a change")
        #expect(bytes <= 800)
        await transport.shutdown()
    }

    @Test("Pages of an allowed origin may use the server, and others may not")
    func origins() async throws {
        let origin = "https://app.example.org"
        let process = try ServedProcess(storage: "memory", port: 0, ["--allow-origin", origin])
        defer { process.kill() }
        let transport = AsyncHTTPClientTransport()
        for (page, status) in [(origin, 200), ("https://evil.example.org", 403)] {
            let place = "127.0.0.1:\(process.port)"
            let head = HTTPRequest(.get, to: place, "/health", [.origin: page])
            let reply = try await transport.send(HTTPCall(head))
            #expect(reply.head.status.code == status)
            let shared = reply.head.headerFields[.accessControlAllowOrigin]
            #expect(shared == (status == 200 ? page : nil))
        }
        await transport.shutdown()
    }
}

/// Keeps the text of all replies that pass.
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
