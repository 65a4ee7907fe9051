import HTTPTypes
import KeelHTTP
import KeelStorageFirestore
import KeelTestKit
import Synchronization
import Testing

@testable import KeelServing

/// A client of a WebChannel, without repetitions of its own.
final class WebChannelClient: Sendable {
    private let served: Served
    private let stream: String
    private let database: String
    /// The header fields of each request.
    private let fields: HTTPFields
    /// The header fields in the form of the first request, as SDKs for web pages send them.
    private let headers: String
    private let state = Mutex((session: "", acknowledged: 0, offset: 0))

    init(
        _ served: Served,
        _ stream: String = "Listen",
        database: String = "(default)",
        _ fields: HTTPFields = [:],
        headers: String = ""
    ) {
        self.served = served
        self.stream = stream
        self.database = database
        self.fields = fields
        self.headers = headers
    }

    /// Returns a client with the session of this one, and other header fields.
    func copy(_ fields: HTTPFields) -> WebChannelClient {
        let copy = WebChannelClient(served, stream, database: database, fields)
        let state = state.withLock { $0 }
        copy.state.withLock { $0 = state }
        return copy
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
        let headers = offset == 0 ? Self.encoded("X-Goog-Api-Client:gl-js/\r\n\(headers)") : ""
        var text = "headers=\(headers)&count=\(messages.count)&ofs=\(offset)"
        for (number, message) in messages.enumerated() {
            text += "&req\(number)___data__=\(Self.encoded(message))"
        }
        return Array(text.utf8)
    }

    func post(_ items: String, _ body: [UInt8]) async throws -> Served.Answer {
        var fields = fields
        fields[.contentType] = "application/x-www-form-urlencoded"
        let head = HTTPRequest("http://127.0.0.1:8080\(path(items))", .post, fields)
        let reply = await served.server.respond(to: HTTPCall(head, body: HTTPBody(body)))
        return try await Served.Answer(framed: reply)
    }

    /// Sends the request that opens a session.
    func openingAnswer(_ messages: [String]) async throws -> Served.Answer {
        try await post("RID=1&CVER=22&X-HTTP-Session-Id=gsessionid&t=1", form(messages, from: 0))
    }

    /// Opens the session with its first messages.
    func open(_ messages: String...) async throws {
        let answer = try await openingAnswer(messages)
        try #require(answer.status == 200)
        let greeting = answer.json.elements?.first?.elements
        #expect(greeting?.first == .integer(0))
        let session = greeting?.last?.elements ?? []
        #expect(session.dropFirst(3) == [.integer(8), .integer(12), .integer(30_000)])
        let id = try #require(session[1].text)
        state.withLock { $0 = (id, 0, messages.count) }
    }

    var items: String { state.withLock { "SID=\($0.session)&AID=\($0.acknowledged)" } }

    @discardableResult
    func send(_ messages: String...) async throws -> Served.Answer {
        let offset = state.withLock { state in
            state.offset += messages.count
            return state.offset - messages.count
        }
        return try await post("\(items)&RID=2", form(messages, from: offset))
    }

    /// Returns the response that waits for messages.
    func wait(
        _ method: HTTPRequest.Method = .get,
        isBuffered: Bool = false,
        after number: Int? = nil
    ) async -> HTTPReply {
        let session = state.withLock { $0.session }
        let acknowledged = state.withLock { number ?? $0.acknowledged }
        let place = path(
            "RID=rpc&SID=\(session)&AID=\(acknowledged)&CI=\(isBuffered ? 1 : 0)"
                + "&TYPE=xmlhttp&t=1"
        )
        let head = HTTPRequest("http://127.0.0.1:8080\(place)", method, fields)
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

extension Served.Answer {
    /// Reads a reply whose body is text behind its length.
    init(framed reply: HTTPReply) async throws {
        head = reply.head
        bytes = try await reply.body.collect(upTo: 1 << 20)
        json = reply.head.status == .ok && !bytes.isEmpty ? try Self.unframed(bytes) : .null
    }

    static func unframed(_ bytes: [UInt8]) throws -> FirestoreJSON {
        let text = String(decoding: bytes, as: UTF8.self)
        let parts = text.split(separator: "\n", maxSplits: 1)
        #expect(parts.first.flatMap { Int($0) } == parts.last?.utf16.count)
        return try FirestoreJSON(parsing: Array((parts.last ?? "").utf8))
    }
}
