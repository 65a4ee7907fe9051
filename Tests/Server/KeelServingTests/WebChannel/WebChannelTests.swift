import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@testable import KeelServing

@Suite("WebChannels of a server", .timeLimit(.minutes(1)))
struct WebChannelTests {
    private typealias Client = WebChannelClient

    @Test("The id of a session begins with the name of its server, for load balancers")
    func named() async throws {
        let client = Client(Served { $0.serverName = "a" })
        try await client.open(Self.notes)
        #expect(client.items.hasPrefix("SID=a-"))
    }

    private static let notes = #"""
        {"database":"projects/p/databases/(default)","addTarget":{"targetId":2,"query":{
        "parent":"projects/p/databases/(default)/documents",
        "structuredQuery":{"from":[{"collectionId":"notes"}]}}}}
        """#

    /// Whether a message makes the SDK show what it has: `versionFromListenResponse`.
    private static func isSnapshot(_ message: FirestoreJSON) -> Bool {
        message["targetChange"].map { $0["targetIds"] == nil && $0["readTime"] != nil } ?? false
    }

    private static func words(_ messages: [FirestoreJSON]) -> [String] {
        messages.map { message in
            if let change = message["targetChange"] {
                return change["targetChangeType"]?.text ?? "NO_CHANGE"
            }
            if let change = message["documentChange"] {
                return change["document"]?["name"]?.text?.split(separator: "/").last.map(
                    String.init
                )
                    ?? "?"
            }
            return message.members?.first?.name ?? message.text ?? "?"
        }
    }

    @Test("A page receives documents, changes and deletions")
    func listens() async throws {
        let served = Served()
        try await served.set("notes/é😀", n: 1)
        let client = Client(served)
        try await client.open(Self.notes)
        let reply = await client.wait()
        #expect(reply.head.status == .ok)
        #expect(reply.head.headerFields[.contentType]?.hasPrefix("text/plain") == true)
        var found = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(Self.words(found) == ["ADD", "é😀", "CURRENT"])
        try await served.set("notes/2", n: 2)
        found = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(Self.words(found) == ["2", "NO_CHANGE"])
        _ = try await served.send(.delete, "/notes/2")
        found = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(Self.words(found) == ["documentDelete", "NO_CHANGE"])
        try await client.send(#"{"removeTarget":2}"#)
        found = try await client.receive(from: reply) { Self.words([$0]) == ["REMOVE"] }
        #expect(Self.words(found) == ["REMOVE"])
    }

    @Test("HEAD does not end the response that waits for messages")
    func head() async throws {
        let served = Served()
        let client = Client(served)
        try await client.open(Self.notes)
        let reply = await client.wait()
        _ = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(await client.wait(.head).head.status == .ok)
        try await served.set("notes/1", n: 1)
        let found = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(Self.words(found) == ["1", "NO_CHANGE"])
    }

    @Test("A response that was lost is repeated, and one that a client reads at its end is short")
    func losses() async throws {
        let served = Served()
        try await served.set("notes/1", n: 1)
        let client = Client(served)
        try await client.open(Self.notes)
        let all = ["ADD", "1", "CURRENT"]
        let lost = try await client.receive(from: await client.wait(), until: Self.isSnapshot)
        #expect(Self.words(lost) == all)
        let again = try await client.receive(
            from: await client.wait(after: 0),
            until: Self.isSnapshot
        )
        #expect(Self.words(again) == all)

        async let buffered = client.receive(from: await client.wait(isBuffered: true)) { _ in false
        }
        try await served.set("notes/2", n: 2)
        let words = Self.words(try await buffered)
        #expect(words.first == "2")
    }

    @Test("A client that resumes when nothing has changed receives at most 200 bytes")
    func resumption() async throws {
        // The time of the last commit has all of its six decimals, and is almost an hour after the first one.
        let commits = Atomic<Int64>(0)
        let store = InMemoryStorageAdapter {
            let passed = commits.add(360_000_000, ordering: .relaxed).oldValue
            return Timestamp(microseconds: 1_795_869_296_123_457 + passed)
        }
        let served = Served(store)
        for number in 1...10 { try await served.set("notes/\(number)", n: number) }
        let first = Client(served)
        try await first.open(Self.notes)
        let all = try await first.receive(from: await first.wait(), until: Self.isSnapshot)
        let token = try #require(all.last?["targetChange"]?["resumeToken"]?.text)
        let resuming = Self.notes.replacing(
            #""targetId":2"#,
            with: #""targetId":2,"resumeToken":"\#(token)","expectedCount":10"#
        )
        let second = Client(served)
        try await second.open(resuming)
        let found = try await second.receive(from: await second.wait(), until: Self.isSnapshot)
        #expect(Self.words(found) == ["ADD", "CURRENT"])
        #expect(found.last?["targetChange"]?["readTime"]?.text?.utf8.count == 27)
        // As many bytes as if each message arrives by itself.
        let bytes = found.enumerated().reduce(0) { sum, message in
            let text = FirestoreJSON.array([
                .array([.integer(Int64(message.offset + 1)), .array([message.element])])
            ])
            return sum + WebChannelState.framed(text.bytes).count
        }
        #expect(bytes == 199)
    }

    @Test("A target that cannot be served is removed, and the others go on")
    func badTargets() async throws {
        let client = Client(Served())
        let bad = Self.notes.replacing("notes", with: "__own__")
            .replacing(#""targetId":2"#, with: #""targetId":4"#)
        try await client.open(bad, Self.notes)
        let found = try await client.receive(from: await client.wait(), until: Self.isSnapshot)
        #expect(Self.words(found) == ["ADD", "REMOVE", "ADD", "CURRENT"])
        let cause = found[1]["targetChange"]?["cause"]
        #expect(cause?["code"] == .integer(3))
        #expect(cause?["message"]?.text?.contains("reserved") == true)
    }

    @Test("A stream that fails tells its status, and ends the session")
    func failures() async throws {
        let client = Client(Served())
        try await client.open(Self.notes, Self.notes)
        let found = try await client.receive(from: await client.wait()) { $0.text == "close" }
        #expect(Self.words(found).suffix(2) == ["error", "close"])
        #expect(found.dropLast().last?["error"]?["status"] == "INVALID_ARGUMENT")
    }

    @Test("A page writes")
    func writes() async throws {
        let served = Served()
        let client = Client(served, "Write")
        try await client.open(#"{"database":"projects/p/databases/(default)"}"#)
        let reply = await client.wait()
        let greeting = try await client.receive(from: reply) { _ in true }
        let token = try #require(greeting.first?["streamToken"]?.text)
        let batch = #"{"streamToken":"\#(token)","writes":[\#(Served.write("notes/1", n: 7))]}"#
        let status = try await client.send(batch)
        #expect(status.json.elements?.first == .integer(1), "a request waits for messages")
        let results = try await client.receive(from: reply) { _ in true }
        #expect(results.first?["writeResults"]?.elements?.count == 1)
        #expect(try await served.send(.get, "/notes/1").status == 200)
    }

    @Test("Writes that wait when a page ends its session have no effect: the page sends them again")
    func endsWhileCommitting() async throws {
        let store = SlowCommits()
        let served = Served(store)
        let client = Client(served, "Write")
        try await client.open(#"{"database":"projects/p/databases/(default)"}"#)
        let reply = await client.wait()
        let greeting = try await client.receive(from: reply) { _ in true }
        let token = try #require(greeting.first?["streamToken"]?.text)
        for number in 1...2 {
            let write = Served.write("notes/\(number)", n: 7)
            try await client.send(#"{"streamToken":"\#(token)","writes":[\#(write)]}"#)
        }
        try await waitUntil { store.gate.begunCount == 1 }
        let answer = try await client.post("\(client.items)&RID=9&TYPE=terminate", [])
        #expect(answer.status == 200)
        store.gate.open()
        try await waitUntil { served.server.channels.count == 0 }
        #expect(try await served.send(.get, "/notes/1").status == 200)
        #expect(try await served.send(.get, "/notes/2").status == 404)
    }

    @Test(
        "A session ends when its client says so, when the server shuts down, and when nobody waits"
    )
    func ends() async throws {
        let served = Served()
        let clients = [Client(served), Client(served), Client(served)]
        for client in clients { try await client.open(Self.notes) }
        #expect(served.server.channels.count == 3)
        let answer = try await clients[0].post("\(clients[0].items)&RID=9&TYPE=terminate", [])
        #expect(answer.status == 200)
        let reply = await clients[1].wait()
        _ = try await clients[1].receive(from: reply, until: Self.isSnapshot)
        // The third client is gone.
        try await waitUntil {
            await served.clock.advance(by: WebChannelSession.heartbeat)
            return served.server.channels.count == 1
        }
        #expect(try await clients[2].send(#"{"removeTarget":2}"#).status == 400, "unknown session")
        served.server.shutDown()
        let last = try await clients[1].receive(from: reply) { $0.text == "close" }
        let error = last.dropLast().last?["error"]
        #expect(error?["status"] == "UNAVAILABLE")
    }

    @Test("A client that waits receives a message at least every 30 seconds")
    func heartbeats() async throws {
        let served = Served()
        let client = Client(served, "Write")
        try await client.open(#"{"database":"projects/p/databases/(default)"}"#)
        let reply = await client.wait()
        _ = try await client.receive(from: reply) { _ in true }
        async let found = client.receive(from: reply) { $0.text == "noop" }
        await served.clock.advance(by: WebChannelSession.heartbeat, onceAsleep: 1)
        #expect(Self.words(try await found) == ["noop"])
    }

    @Test("Messages in requests that arrive at the same time keep their order")
    func simultaneousRequests() async throws {
        let served = Served()
        let client = Client(served)
        try await client.open()
        let id = try #require(client.items.split(separator: "&").first?.dropFirst(4))
        let session = try #require(served.server.channels[String(id)])
        let reply = await client.wait()
        for round in 0..<8 {
            let numbers = (round * 20)..<(round * 20 + 20)
            await withTaskGroup(of: Void.self) { group in
                for number in numbers {
                    group.addTask {
                        let message: FirestoreJSON = [
                            "addTarget": [
                                "targetId": .integer(Int64(number + 1)),
                                "documents": ["documents": [.string(Served.name("a/b"))]],
                            ]
                        ]
                        let request = WebChannelState.Request(text: message.bytes)
                        _ = session.take([request], from: number, acknowledging: 0)
                    }
                }
            }
        }
        let found = try await client.receive(from: reply) { message in
            let change = message["targetChange"]
            return change?["targetIds"] == [.integer(160)] && change?["targetChangeType"] == "ADD"
        }
        let added = found.compactMap { message -> Int64? in
            guard let change = message["targetChange"], change["targetChangeType"] == "ADD" else {
                return nil
            }
            return change["targetIds"]?.elements?.first?.wholeNumber
        }
        #expect(added == Array(1...160))
    }

    @Test("A client whose messages wait in their thousands loses its session")
    func waitingMessages() {
        let session = WebChannelSession(id: "1")
        let message = WebChannelState.Request(text: Array(#"{"removeTarget":2}"#.utf8))
        let messages = [WebChannelState.Request](repeating: message, count: 1_000)
        for first in stride(from: 0, to: 10_000, by: 1_000) {
            #expect(session.take(messages, from: first, acknowledging: 0) != nil)
        }
        #expect(session.take([messages[0]], from: 10_000, acknowledging: 0) == nil)
    }

    @Test(
        "Sessions of clients that are gone end before their messages fill the memory",
        arguments: ["(default)", "b"]
    )
    func absentClients(database: String) async throws {
        let databases: [String: any StorageAdapter] = [
            "b": InMemoryStorageAdapter(clock: TestClock())
        ]
        let served = Served(databases: databases) { $0.maximumBacklogBytes = 100_000 }
        let clients = (0..<20).map { _ in Client(served, database: database) }
        let notes = Self.notes.replacing("(default)", with: database)
        for client in clients { try await client.open(notes) }
        let text = String(repeating: "x", count: 1_000)
        let document = #"{"fields":{"text":{"stringValue":"\#(text)"}}}"#
        var number = 0
        try await waitUntil {
            number += 1
            let path = "/v1/projects/p/databases/\(database)/documents/notes/\(number)"
            _ = try await served.send(.patch, path: path, Array(document.utf8))
            #expect(served.server.channels.held.value < 200_000)
            return served.server.channels.count < 20
        }
        served.server.channels.makeRoom(upTo: -1)
        try await waitUntil { served.server.channels.held.value == 0 }
        // A client that comes back finds its session gone, and opens another one.
        #expect(served.server.channels.count == 0)
        #expect(await clients[0].wait().head.status == .badRequest)
    }

    @Test("Pages of an allowed origin may open a channel, and others may not")
    func origins() async throws {
        let origin = "https://app.example.org"
        let served = Served { $0.allowedOrigins = [origin] }
        let database = "projects%2Fp%2Fdatabases%2F(default)"
        let path = "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&database=\(database)"
        let question: HTTPFields = [.origin: origin, .accessControlRequestMethod: "POST"]
        let answer = try await served.send(.options, path: path, nil, question)
        #expect(answer.head.status == .noContent)
        #expect(answer.head.headerFields[.accessControlAllowOrigin] == origin)
        let fields: HTTPFields = [
            .origin: "https://evil.example.org",
            .contentType: "application/x-www-form-urlencoded",
        ]
        let body = Array("count=0&ofs=0".utf8)
        #expect(try await served.send(.post, path: path, body, fields).status == 403)
        #expect(served.server.channels.count == 0)
    }

    @Test("Requests that are not those of a WebChannel are refused")
    func refusals() async throws {
        let served = Served()
        let client = Client(served)
        for (items, body, part) in [
            ("RID=1", "count=1&ofs=0", "req0___data__"),
            ("RID=1", "count=1&ofs=0&req0___data__=%7B", "not valid JSON"),
            ("RID=1", "count=-1&ofs=0", "out of range"),
            ("RID=1", "count=0&" + String(repeating: "a&", count: 10_000), "parameters"),
        ] {
            let answer = try await client.post(items, Array(body.utf8))
            #expect(answer.status == 400)
            #expect(String(decoding: answer.bytes, as: UTF8.self).contains(part))
        }
        let path = "/google.firestore.v1.Firestore/Listen/channel"
        #expect(try await served.send(.get, path: "\(path)?VER=7").status == 400)
        #expect(try await served.send(.get, path: "\(path)?VER=8").status == 400)
        #expect(served.server.channels.count == 0)
    }
}
