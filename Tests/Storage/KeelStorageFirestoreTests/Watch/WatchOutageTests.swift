import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import Testing

/// Followed queries over the plain protocol of a Keel server, which continues from tokens.
@Suite("Followed queries whose server or process goes away", .timeLimit(.minutes(2)))
struct WatchOutageTests {
    private let store = InMemoryStorageAdapter()
    private let transport: CutTransport
    private let query = DocumentQuery("notes").where(.equal("n", 1))

    private var writer: StorageClient { StorageClient(store) }

    init() { transport = CutTransport(HandlerTransport(StorageServer(adapter: store))) }

    @Test("A listener shows its last state while the server is away, and continues from its token")
    func isFromCache() async throws {
        try await writer.setDocument("notes/a", ["n": 1])
        var snapshots = StorageClient(Served.plain(over: transport)).listen(to: query)
            .makeAsyncIterator()
        var last = try #require(try await snapshots.next())
        #expect(last.documents.map(\.id) == ["a"])
        #expect(!last.isFromCache)
        transport.cut()
        try await writer.setDocument("notes/b", ["n": 1])
        while !last.isFromCache { last = try #require(try await snapshots.next()) }
        // The change may have arrived before the connection was cut.
        #expect([["a"], ["a", "b"]].contains(last.documents.map(\.id)))
        try await writer.setDocument("notes/a", ["n": 2])
        transport.restore()
        while last.isFromCache || last.documents.map(\.id) != ["b"] {
            last = try #require(try await snapshots.next())
        }
        #expect(transport.count(of: "resumeToken") >= 1)
        #expect(transport.count(of: ":runQuery") == 0)
    }

    @Test("A cursor continues in another process with what has changed, and what has left")
    func continuesInAnotherProcess() async throws {
        for id in ["a", "b", "c"] { try await writer.setDocument("notes/\(id)", ["n": 1]) }
        let first = try await Served.plain(store).changes(ChangeRequest(followingResultOf: query))
        #expect(first.changes.map(\.path) == ["notes/a", "notes/b", "notes/c"])
        let unchanged = try await Served.plain(store).changes(
            ChangeRequest(after: first.next, followingResultOf: query)
        )
        #expect(unchanged.changes.isEmpty)
        #expect(unchanged.isCaughtUp)
        try await writer.deleteDocument("notes/a")
        try await writer.setDocument("notes/b", ["n": 2])
        try await writer.setDocument("notes/d", ["n": 1])
        let page = try await Served.plain(over: transport).changes(
            ChangeRequest(after: unchanged.next, followingResultOf: query)
        )
        #expect(page.changes.map(\.path) == ["notes/a", "notes/b", "notes/d"])
        let present = page.changes.compactMap { change -> DocumentPath? in
            guard case .current(let document) = change else { return nil }
            return document.path
        }
        #expect(present == ["notes/d"])
        #expect(transport.count(of: "resumeToken") == 1)
    }
}
