import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Databases of a server", .timeLimit(.minutes(1)))
struct DatabaseTests {
    private let served = Served(databases: ["b": InMemoryStorageAdapter(clock: TestClock())])

    private func send(
        _ method: HTTPRequest.Method,
        _ database: String,
        _ place: String,
        _ body: String? = nil
    ) async throws -> Served.Answer {
        let path = "/v1/projects/p/databases/\(database)/documents\(place)"
        return try await served.send(method, path: path, body.map { Array($0.utf8) })
    }

    private func number(_ database: String) async throws -> String? {
        let answer = try await send(.get, database, "/notes/1")
        return answer.json["fields"]?["n"]?["integerValue"]?.text
    }

    @Test("A write to one is not seen by another")
    func apart() async throws {
        try await served.set("notes/1", n: 1)
        #expect(try await send(.get, "b", "/notes/1").status == 404)
        let two = #"{"fields":{"n":{"integerValue":"2"}}}"#
        #expect(try await send(.patch, "b", "/notes/1", two).status == 200)
        #expect(try await number("(default)") == "1")
        #expect(try await number("b") == "2")
        let name = "projects/other/databases/b/documents/notes/1"
        let called = try await served.call(.getDocument, ["name": .string(name)])
        #expect(called.messages.first?["fields"] == ["n": ["integerValue": "2"]])
        let page = "/sync/all/changes?database=projects/p/databases/"
        #expect(try await served.send(.get, path: page + "b").json.paths == ["notes/1"])
    }

    @Test("A transaction belongs to its database")
    func transactions() async throws {
        let token = try await served.begin()
        _ = try await send(.get, "(default)", "/notes/1?transaction=\(token)")
        let body = #"{"writes":[],"transaction":"\#(token)"}"#
        #expect(try await send(.post, "b", ":commit", body).status != 200)
        #expect(try await send(.post, "(default)", ":commit", body).status == 200)
    }

    @Test("A listener follows the database that its first message names")
    func listens() async throws {
        func target(_ database: String) -> FirestoreJSON {
            [
                "database": .string(database),
                "addTarget": [
                    "targetId": .integer(7),
                    "documents": ["documents": [.string("\(database)/documents/a/1")]],
                ],
            ]
        }
        let unknown = try await served.call(.listen, target("projects/p/databases/c"))
        #expect(unknown.status == 5)
        let known = try await served.call(.listen, target("projects/p/databases/b"))
        #expect(known.status == 0)
        let server = try served.server.server(of: "projects/p/databases/b")
        #expect(server !== served.server)
    }

    @Test("One that the server does not have is not found", arguments: ["c", "default"])
    func unknown(database: String) async throws {
        let read = try await send(.get, database, "/notes/1")
        #expect(read.status == 404)
        #expect(read.error == "NOT_FOUND")
        #expect(read.reason == "databaseNotFound")
        #expect(read.json["error"]?["message"]?.text?.hasPrefix("The database") == true)
        #expect(try await send(.post, database, ":commit", #"{"writes":[]}"#).status == 404)
        let name = "projects/p/databases/\(database)"
        let called = try await served.call(.commit, ["database": .string(name), "writes": []])
        #expect(called.status == 5)
        let sync = try await served.send(.get, path: "/sync/all/changes?database=\(name)")
        #expect(sync.status == 404)
    }

    @Test("Draining ends the streams of all")
    func drains() async throws {
        let server = try served.server.server(of: "projects/p/databases/b")
        let (ends, end) = AsyncStream.makeStream(of: Void.self)
        _ = try server.streams.open { end.finish() }
        await served.server.drain(for: .zero)
        for await _ in ends {}
    }
}
