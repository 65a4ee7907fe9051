import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

/// A server in the same process, with methods to send it requests.
struct Served {
    /// The reply of a server.
    struct Answer {
        let head: HTTPResponse
        let bytes: [UInt8]
        let json: FirestoreJSON

        var status: Int { head.status.code }
        /// The protocol's status of an error.
        var error: String? { json["error"]?["status"]?.text }
        /// Keel's code of an error.
        var reason: String? { json["error"]?["details"]?.elements?.first?["reason"]?.text }

        /// Reads a reply to its end.
        init(_ reply: HTTPReply) async throws {
            head = reply.head
            bytes = try await reply.body.collect(upTo: 64 << 20)
            json = bytes.isEmpty ? .null : try FirestoreJSON(parsing: bytes)
        }
    }

    static let database = "projects/p/databases/(default)"
    static let root = "/v1/\(database)/documents"

    let adapter: any StorageAdapter
    let server: StorageServer
    let clock: TestClock

    init(
        _ adapter: any StorageAdapter = InMemoryStorageAdapter(clock: TestClock()),
        databases: [String: any StorageAdapter]? = nil,
        _ change: (inout StorageServer.Configuration) -> Void = { _ in }
    ) {
        let clock = TestClock()
        var configuration = StorageServer.Configuration()
        configuration.clock = clock
        change(&configuration)
        self.adapter = adapter
        self.clock = clock
        server = StorageServer(adapter: adapter, databases: databases, configuration: configuration)
    }

    /// The number of the transactions that the server keeps in its memory; -1 if it does not.
    var transactionCount: Int { (server.transactions.records as? LocalTransactions)?.count ?? -1 }

    /// Returns the name of a document in messages.
    static func name(_ path: String) -> String { "\(database)/documents/\(path)" }

    /// Sends a request to a path below the root of the documents.
    func send(
        _ method: HTTPRequest.Method,
        _ place: String,
        _ body: String? = nil,
        extended: Bool = false
    ) async throws -> Answer {
        var fields = HTTPFields()
        if extended { fields[try #require(HTTPField.Name("Keel-Protocol"))] = "1" }
        let bytes = body.map { Array($0.utf8) }
        return try await send(method, path: Self.root + place, bytes, fields)
    }

    /// Sends a request with any path and body.
    func send(
        _ method: HTTPRequest.Method,
        path: String,
        _ body: [UInt8]? = nil,
        _ fields: HTTPFields = [:],
        authority: String? = "127.0.0.1:8080"
    ) async throws -> Answer {
        var fields = fields
        if body != nil, fields[.contentType] == nil { fields[.contentType] = "application/json" }
        let head = HTTPRequest(
            method: method,
            scheme: "http",
            authority: authority,
            path: path,
            headerFields: fields
        )
        let reply = await server.respond(to: HTTPCall(head, body: body.map { HTTPBody($0) }))
        return try await Answer(reply)
    }

    /// Commits a write that sets a number.
    func commit(_ path: String, n: Int, in token: String? = nil) async throws -> Answer {
        try await send(.post, ":commit", Self.commit(path, n: n, transaction: token))
    }

    /// Stores a document with a number.
    @discardableResult
    func set(_ path: String, n: Int) async throws -> Answer {
        let document = #"{"fields":{"n":{"integerValue":"\#(n)"}}}"#
        return try await send(.patch, "/\(path)", document)
    }

    func read(_ path: String, in token: String) async throws -> Answer {
        let body = #"{"documents":["\#(Self.name(path))"],"transaction":"\#(token)"}"#
        return try await send(.post, ":batchGet", body)
    }

    /// Starts a transaction and returns its token.
    func begin(_ options: String = "{}") async throws -> String {
        let answer = try await send(.post, ":beginTransaction", #"{"options":\#(options)}"#)
        return try #require(answer.json["transaction"]?.text)
    }

    /// Returns the body of a commit that sets a number.
    static func commit(_ path: String, n: Int, transaction: String? = nil) -> String {
        let token = transaction.map { #","transaction":"\#($0)""# } ?? ""
        return #"{"writes":[\#(write(path, n: n))]\#(token)}"#
    }

    /// Returns a write that sets a number.
    static func write(_ path: String, n: Int, _ more: String = "") -> String {
        #"{"update":{"name":"\#(name(path))","fields":{"n":{"integerValue":"\#(n)"}}}\#(more)}"#
    }
}
