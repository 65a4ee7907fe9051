import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

@Suite("WebChannels of a server", .timeLimit(.minutes(1)))
struct WebChannelTests {
    /// A client of a WebChannel, without repetitions of its own.
    private final class Client: Sendable {
        private let served: Served
        private let stream: String
        private let database: String
        private let state = Mutex((session: "", acknowledged: 0, offset: 0))

        init(_ served: Served, _ stream: String = "Listen", database: String = "(default)") {
            self.served = served
            self.stream = stream
            self.database = database
        }

        private func path(_ items: String) -> String {
            let name = "database=projects%2Fp%2Fdatabases%2F\(database)"
            return "/google.firestore.v1.Firestore/\(stream)/channel?VER=8&\(name)&\(items)"
        }

        private static func encoded(_ text: String) -> String {
            text.utf8.map { byte in
                let isPlain =
                    (0x30...0x39).contains(byte) || (0x61...0x7A).contains(byte)
                    || (0x41...0x5A).contains(byte)
                let digits = String(byte, radix: 16)
                return isPlain
                    ? String(UnicodeScalar(byte)) : "%" + (digits.count < 2 ? "0" : "") + digits
            }
            .joined()
        }

        private func form(_ messages: [String], from offset: Int) -> [UInt8] {
            var text =
                "headers=X-Goog-Api-Client:gl-js%2F%0D%0A&count=\(messages.count)&ofs=\(offset)"
            for (number, message) in messages.enumerated() {
                text += "&req\(number)___data__=\(Self.encoded(message))"
            }
            return Array(text.utf8)
        }

        func post(_ items: String, _ body: [UInt8]) async throws -> Served.Answer {
            let fields: HTTPFields = [.contentType: "application/x-www-form-urlencoded"]
            let head = HTTPRequest(
                method: .post,
                scheme: "http",
                authority: "127.0.0.1:8080",
                path: path(items),
                headerFields: fields
            )
            let reply = await served.server.respond(to: HTTPCall(head, body: HTTPBody(body)))
            return try await Served.Answer(framed: reply)
        }

        /// Opens the session with its first messages.
        func open(_ messages: String...) async throws {
            let body = form(messages, from: 0)
            let answer = try await post("RID=1&CVER=22&X-HTTP-Session-Id=gsessionid&t=1", body)
            try #require(answer.status == 200)
            let greeting = answer.json.elements?.first?.elements
            #expect(greeting?.first == .integer(0))
            let session = greeting?.last?.elements ?? []
            #expect(session.dropFirst(3) == [.integer(8), .integer(12), .integer(30_000)])
            let id = try #require(session[1].text)
            state.withLock { $0 = (id, 0, messages.count) }
        }

        var items: String {
            state.withLock { "SID=\($0.session)&AID=\($0.acknowledged)" }
        }

        @discardableResult
        func send(_ messages: String...) async throws -> Served.Answer {
            let offset = state.withLock { state in
                state.offset += messages.count
                return state.offset - messages.count
            }
            return try await post("\(items)&RID=2", form(messages, from: offset))
        }

        /// Returns the response that waits for messages.
        func wait(isBuffered: Bool = false, after number: Int? = nil) async -> HTTPReply {
            let session = state.withLock { $0.session }
            let acknowledged = state.withLock { number ?? $0.acknowledged }
            let head = HTTPRequest(
                method: .get,
                scheme: "http",
                authority: "127.0.0.1:8080",
                path: path(
                    "RID=rpc&SID=\(session)&AID=\(acknowledged)&CI=\(isBuffered ? 1 : 0)"
                        + "&TYPE=xmlhttp&t=1"
                )
            )
            return await served.server.respond(to: HTTPCall(head))
        }

        /// Reads messages until one fulfills a condition; returns those up to it.
        func receive(
            from reply: HTTPReply,
            until isLast: (FirestoreJSON) -> Bool
        ) async throws -> [FirestoreJSON] {
            var found: [FirestoreJSON] = []
            for try await chunk in reply.body {
                for message in try Served.Answer.unframed(Array(chunk)).elements ?? [] {
                    guard let number = message.elements?.first?.wholeNumber,
                        let content = message.elements?.last?.elements?.first
                    else { continue }
                    state.withLock { $0.acknowledged = Int(number) }
                    found.append(content)
                    if isLast(content) { return found }
                }
            }
            return found
        }
    }

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

    private static func isSnapshot(_ message: FirestoreJSON) -> Bool {
        message["targetChange"].map { $0["targetChangeType"] == nil } ?? false
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

    @Test("A page hears of documents, changes and deletions")
    func listens() async throws {
        let served = Served()
        try await served.set("notes/é😀", n: 1)
        let client = Client(served)
        try await client.open(Self.notes)
        let reply = await client.wait()
        #expect(reply.head.status == .ok)
        #expect(reply.head.headerFields[.contentType]?.hasPrefix("text/plain") == true)
        var found = try await client.receive(from: reply, until: Self.isSnapshot)
        #expect(Self.words(found) == ["ADD", "é😀", "CURRENT", "NO_CHANGE"])
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

    @Test("A response that was lost is repeated, and one that a client reads at its end is short")
    func losses() async throws {
        let served = Served()
        try await served.set("notes/1", n: 1)
        let client = Client(served)
        try await client.open(Self.notes)
        let all = ["ADD", "1", "CURRENT", "NO_CHANGE"]
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

    @Test("A target that cannot be served is removed, and the others go on")
    func badTargets() async throws {
        let client = Client(Served())
        let bad = Self.notes.replacing("notes", with: "__own__")
            .replacing(#""targetId":2"#, with: #""targetId":4"#)
        try await client.open(bad, Self.notes)
        let found = try await client.receive(from: await client.wait(), until: Self.isSnapshot)
        #expect(Self.words(found) == ["ADD", "REMOVE", "ADD", "CURRENT", "NO_CHANGE"])
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
        await served.clock.waitForSleepers()
        await served.clock.advance(by: WebChannelSession.heartbeat)
        #expect(Self.words(try await found) == ["noop"])
    }

    @Test("A client whose messages wait in their thousands loses its session")
    func waitingMessages() {
        let session = WebChannelSession(id: "1")
        let message = WebChannelState.Request(json: ["removeTarget": .integer(2)], size: 18)
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
        let path =
            "/google.firestore.v1.Firestore/Listen/channel?VER=8&RID=1&database=\(database)"
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

extension Served.Answer {
    /// Reads a reply whose body is text behind its length.
    fileprivate init(framed reply: HTTPReply) async throws {
        head = reply.head
        bytes = try await reply.body.collect(upTo: 1 << 20)
        json = reply.head.status == .ok && !bytes.isEmpty ? try Self.unframed(bytes) : .null
    }

    fileprivate static func unframed(_ bytes: [UInt8]) throws -> FirestoreJSON {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: "\n", maxSplits: 1)
        #expect(parts.first.flatMap { Int($0) } == parts.last?.utf16.count)
        return try FirestoreJSON(parsing: Array((parts.last ?? "").utf8))
    }
}
