import Foundation
import HTTPTypes
import KeelAsyncHTTPClient
import KeelHTTP

/// A stream of Firestore's Listen method over WebChannel, which a test reads message by message.
///
/// It neither repeats a request nor opens another stream: an error of the transport ends it.
struct ListenChannel {
    static let database = "projects/p/databases/(default)"

    /// A message of the server, with the fields that tests read.
    struct Message: Decodable {
        struct TargetChange: Decodable {
            let targetChangeType: String?
            let targetIds: [Int]?
            let resumeToken: String?
        }

        struct DocumentChange: Decodable { let document: Document }

        struct Document: Decodable {
            let name: String
            let fields: [String: Value]
        }

        struct Value: Decodable { let integerValue: String? }

        struct Departure: Decodable { let document: String }

        struct Filter: Decodable { let count: Int? }

        let targetChange: TargetChange?
        let documentChange: DocumentChange?
        let documentDelete: Departure?
        let documentRemove: Departure?
        let filter: Filter?
        let error: Failure?
    }

    /// The status with which a server ends a stream.
    struct Failure: Decodable, Error {
        let status: String
        let message: String
    }

    /// A status other than 200.
    struct Refusal: Error { let status: Int }

    /// A message with its number.
    private struct Numbered: Decodable {
        let number: Int
        /// The message; nil for a word.
        let message: Message?
        /// A word of WebChannel, such as `noop`; nil for a message.
        let word: String?

        init(from decoder: any Decoder) throws {
            var parts = try decoder.unkeyedContainer()
            number = try parts.decode(Int.self)
            var content = try parts.nestedUnkeyedContainer()
            word = try? content.decode(String.self)
            message = word == nil ? try content.decode(Message.self) : nil
        }
    }

    private let port: Int
    private let transport: AsyncHTTPClientTransport
    private var session = ""
    /// The number of the last message that was returned.
    private var acknowledged = 0
    private var received: ArraySlice<Numbered> = []
    /// The bytes of the present response that have not been read as messages.
    private var bytes: [UInt8] = []
    private var body: HTTPByteStream.Iterator?

    private init(_ port: Int, _ transport: AsyncHTTPClientTransport) {
        self.port = port
        self.transport = transport
    }

    /// Opens a stream with a first request, the JSON of a `ListenRequest`.
    static func open(
        _ request: String,
        at port: Int,
        over transport: AsyncHTTPClientTransport
    ) async throws -> ListenChannel {
        var channel = ListenChannel(port, transport)
        let form = "count=1&ofs=0&req0___data__=\(encoded(request))"
        let reply = try await channel.send(.post, "RID=1&CVER=22&t=1", form)
        let greeting = String(decoding: try await reply.body.collect(upTo: 1 << 16), as: UTF8.self)
        guard let session = greeting.firstMatch(of: /"c","([^"]+)"/) else {
            throw CocoaError(.coderReadCorrupt)
        }
        channel.session = String(session.output.1)
        return channel
    }

    /// Returns the next message; nil once the server has ended the stream without a failure.
    mutating func next() async throws -> Message? {
        while true {
            while let next = received.popFirst() {
                acknowledged = next.number
                if let failure = next.message?.error { throw failure }
                if let message = next.message { return message }
                if next.word == "close" { return nil }
            }
            if let array = takeArray() {
                received = try JSONDecoder().decode([Numbered].self, from: array)[...]
            } else if let chunk = try await body?.next() {
                bytes += chunk
            } else {
                // A response ends when the server wants to know what has arrived.
                bytes = []
                let items = "RID=rpc&SID=\(session)&AID=\(acknowledged)&CI=0&TYPE=xmlhttp&t=1"
                body = try await send(.get, items).body.makeAsyncIterator()
            }
        }
    }

    /// Returns the next array of messages that has arrived as a whole.
    private mutating func takeArray() -> Data? {
        // The messages are ASCII, so that the length in UTF-16 code units is also the one in bytes.
        guard let end = bytes.firstIndex(of: UInt8(ascii: "\n")),
            let length = Int(String(decoding: bytes[..<end], as: UTF8.self)),
            end + length < bytes.count
        else { return nil }
        defer { bytes.removeFirst(end + length + 1) }
        return Data(bytes[(end + 1)...(end + length)])
    }

    private func send(
        _ method: HTTPRequest.Method,
        _ items: String,
        _ form: String? = nil
    ) async throws -> HTTPReply {
        let path = "/google.firestore.v1.Firestore/Listen/channel?VER=8"
        var head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: "127.0.0.1:\(port)",
            path: "\(path)&database=\(Self.encoded(Self.database))&\(items)"
        )
        if form != nil { head.headerFields[.contentType] = "application/x-www-form-urlencoded" }
        let body = form.map { HTTPBody(Array($0.utf8)) }
        let reply = try await transport.send(HTTPCall(head, body: body))
        guard reply.head.status == .ok else { throw Refusal(status: reply.head.status.code) }
        return reply
    }

    private static func encoded(_ text: String) -> String {
        text.addingPercentEncoding(withAllowedCharacters: .alphanumerics) ?? text
    }
}
