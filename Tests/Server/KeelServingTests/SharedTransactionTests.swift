import HTTPTypes
import KeelCore
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@testable import KeelServing

@Suite("Transactions over several servers of a store")
struct SharedTransactionTests {
    private let adapter = SharingStorageAdapter()
    private let servers: [Served]

    init() { servers = [Served(adapter), Served(adapter), Served(adapter)] }

    private static func get(_ path: String, in token: String) -> String {
        #"{"documents":["\#(Served.name(path))"],"transaction":"\#(token)"}"#
    }

    private static func increment(_ path: String, by n: Int, _ token: String) -> String {
        let transform =
            #"""
            ,"updateMask":{},"updateTransforms":[{"fieldPath":"n","increment":{"integerValue":"\#(n)"}}]
            """#
        return #"{"writes":[\#(Served.write(path, n: 0, transform))],"transaction":"\#(token)"}"#
    }

    private func number(_ path: String) async throws -> Int? {
        let answer = try await servers[0].send(.get, "/\(path)")
        return answer.json["fields"]?["n"]?["integerValue"]?.text.flatMap { Int($0) }
    }

    @Test("Each request of a transaction may reach another server")
    func moves() async throws {
        try await servers[0].set("a/1", n: 1)
        let token = try await servers[0].begin()
        let read = try await servers[1].send(.post, ":batchGet", Self.get("a/1", in: token))
        #expect(read.status == 200)
        #expect(try await servers[2].commit("a/2", n: 2, in: token).status == 200)
        let second = try await servers[0].commit("a/2", n: 3, in: token)
        #expect(second.error == "ABORTED")
    }

    @Test(
        "A read at one server is checked by the commit at another one",
        arguments: ["get", "query", "list", "aggregation", "missing"]
    )
    func conflict(kind: String) async throws {
        try await servers[0].set("a/1", n: 1)
        let query =
            #""structuredQuery":{"from":[{"collectionId":"a"}],"where":{"fieldFilter":{"#
            + #""field":{"fieldPath":"n"},"op":"LESS_THAN","value":{"integerValue":"10"}}}}"#
        let token = try await servers[0].begin()
        let answer =
            switch kind {
            case "get": try await servers[1].send(.get, "/a/1?transaction=\(token)")
            case "missing": try await servers[1].send(.get, "/a/2?transaction=\(token)")
            case "query":
                try await servers[1].send(
                    .post,
                    ":runQuery",
                    #"{\#(query),"transaction":"\#(token)"}"#
                )
            case "list": try await servers[1].send(.get, "/a?transaction=\(token)")
            default:
                try await servers[1].send(
                    .post,
                    ":runAggregationQuery",
                    #"""
                    {"structuredAggregationQuery":{\#(query),"aggregations":[{"count":{}}]},
                    "transaction":"\#(token)"}
                    """#
                )
            }
        #expect(answer.status == (kind == "missing" ? 404 : 200))
        try await servers[1].set(kind == "get" ? "a/1" : "a/2", n: 7)
        let aborted = try await servers[2].commit("b/1", n: 2, in: token)
        #expect(aborted.error == "ABORTED")
        #expect(try await number("b/1") == nil)
        #expect(adapter.recordCount == 0)
    }

    /// Begins a transaction that reads a document, and returns its token and the body of its commit.
    private func begun() async throws -> (token: String, body: String) {
        try await servers[0].set("a/1", n: 1)
        let token = try await servers[0].begin()
        _ = try await servers[0].send(.post, ":batchGet", Self.get("a/1", in: token))
        return (token, Self.increment("a/1", by: 1, token))
    }

    @Test("A commit whose server was lost is repeated at another one, and takes effect once")
    func repeated() async throws {
        let body = try await begun().body
        let first = try await servers[0].send(.post, ":commit", body)
        let second = try await servers[1].send(.post, ":commit", body)
        #expect(first.status == 200)
        #expect(second.bytes == first.bytes)
        #expect(try await number("a/1") == 2)
    }

    @Test("A commit that its server began and did not end is repeated at another one")
    func unfinished() async throws {
        let (token, body) = try await begun()
        let failing = adapter.failing([
            .failure(StorageError(.unavailable, "lost", effect: .unknown))
        ])
        let lost = try await Served(failing).send(.post, ":commit", body)
        #expect(lost.error == "UNAVAILABLE")
        let replaced = try await servers[1].commit("a/1", n: 9, in: token)
        #expect(replaced.error == "ABORTED")
        let again = try await servers[1].send(.post, ":commit", body)
        #expect(again.status == 200)
        #expect(try await number("a/1") == 2)
    }

    @Test("A transaction whose records were lost is begun again")
    func lost() async throws {
        let token = try await servers[0].begin()
        _ = try await servers[1].send(.post, ":batchGet", Self.get("a/1", in: token))
        adapter.loseRecords()
        let aborted = try await servers[2].commit("a/2", n: 2, in: token)
        #expect(aborted.error == "ABORTED")
        #expect(try await number("a/2") == nil)
    }

    @Test("A commit that took effect before its record was lost is repeated, and no other")
    func settled() async throws {
        let (token, body) = try await begun()
        let first = try await servers[0].send(.post, ":commit", body)
        adapter.loseRecords()
        let second = try await servers[1].send(.post, ":commit", body)
        #expect(first.status == 200)
        #expect(second.bytes == first.bytes)
        let replaced = try await servers[2].commit("a/1", n: 9, in: token)
        #expect(replaced.error == "ABORTED")
        #expect(try await number("a/1") == 2)
    }

    @Test("A commit that another server has answered with ABORTED does not take effect later")
    func prevented() async throws {
        let body = try await begun().body
        let slow = MeddledStorageAdapter(
            adapter,
            beforeCommits: { [adapter, servers] _ in
                adapter.loseRecords()
                let repeated = try? await servers[1].send(.post, ":commit", body)
                #expect(repeated?.error == "ABORTED")
            }
        )
        let first = try await Served(slow).send(.post, ":commit", body)
        #expect(first.error == "ABORTED")
        #expect(try await number("a/1") == 1)
    }

    @Test("A transaction ends when it is too old")
    func expires() async throws {
        let token = try await servers[0].begin()
        adapter.age(by: .seconds(271))
        let read = try await servers[1].send(.post, ":batchGet", Self.get("a/1", in: token))
        #expect(read.error == "ABORTED")
    }

    @Test("The records of one caller are a group, by which a store keeps its limits")
    func groups() async throws {
        let server = Served(adapter) { $0.authenticate = TestUsers.authenticate }
        for user in [TestUsers.ann, TestUsers.ann, TestUsers.bob] {
            let path = Served.root + ":beginTransaction"
            _ = try await server.send(.post, path: path, Array("{}".utf8), user)
        }
        _ = try await servers[0].begin()
        let groups = adapter.keys.map { key in
            key.split(separator: "/").dropLast().joined(separator: "/")
        }
        let counts = Dictionary(groups.map { ($0, 1) }, uniquingKeysWith: +)
        #expect(counts.values.sorted() == [1, 1, 2])
        #expect(counts["transaction"] == 1)
    }

    @Test("Reads of one transaction at several servers at once are all recorded")
    func concurrentReads() async throws {
        let token = try await servers[0].begin()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<9 {
                group.addTask { [servers] in
                    try await servers[n % 3]
                        .send(.post, ":batchGet", Self.get("a/\(n)", in: token)).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 9))
        let id = try #require(TransactionToken(token)).id
        let record = try #require(adapter.sharedRecord("transaction/" + id))
        let reads = try RecordedTransaction.decoded(record.content, from: adapter).reads
        #expect(Set(reads.documents.map(\.path.string)) == Set((0..<9).map { "a/\($0)" }))
    }

    @Test("Many reads of one transaction at one server at once are all recorded")
    func manyReads() async throws {
        let server = Served(QueuedRecords(adapter))
        let token = try await server.begin()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<100 {
                group.addTask {
                    try await server.send(.post, ":batchGet", Self.get("a/\(n)", in: token)).status
                }
            }
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
    }

    @Test("Transfers at random servers keep the sum")
    func transfers() async throws {
        let seed = UInt64.random(in: .min ... .max)
        let accounts = 5
        for n in 0..<accounts { try await servers[0].set("a/\(n)", n: 100) }
        let committed = try await withThrowingTaskGroup(of: Int.self) { group in
            for worker in 0..<4 {
                group.addTask { [servers] in
                    var random = SeededRandom(seed: seed &+ UInt64(worker))
                    var committed = 0
                    for _ in 0..<25 {
                        let from = Int.random(in: 0..<accounts, using: &random)
                        let to = (from + Int.random(in: 1..<accounts, using: &random)) % accounts
                        func server() -> Served { servers[Int.random(in: 0..<3, using: &random)] }
                        let token = try await server().begin()
                        var numbers: [Int: Int] = [:]
                        for account in [from, to] {
                            let answer = try await server()
                                .send(.get, "/a/\(account)?transaction=\(token)")
                            guard answer.status == 200 else { break }
                            numbers[account] = answer.json["fields"]?["n"]?["integerValue"]?.text
                                .flatMap { Int($0) }
                        }
                        guard let a = numbers[from], let b = numbers[to] else { continue }
                        let writes = [
                            Served.write("a/\(from)", n: a - 1), Served.write("a/\(to)", n: b + 1),
                        ]
                        let body =
                            #"{"writes":[\#(writes.joined(separator: ","))],"transaction":"\#(token)"}"#
                        let answer = try await server().send(.post, ":commit", body)
                        #expect([200, 409].contains(answer.status), "seed \(seed)")
                        if answer.status == 200 { committed += 1 }
                    }
                    return committed
                }
            }
            return try await group.reduce(0, +)
        }
        var sum = 0
        for n in 0..<accounts { sum += try await number("a/\(n)") ?? 0 }
        #expect(sum == 100 * accounts, "seed \(seed)")
        #expect(committed > 0, "seed \(seed)")
    }

    @Test("A record keeps every part of a transaction")
    func coding() throws {
        let time = Timestamp(microseconds: 1_750_000_000_123_456)
        var query = DocumentQuery(CollectionPath("a"))
        query.limit = .first(3)
        let reads = TransactionReads(
            documents: [
                .init(path: "a/1", revision: Revision(number: .max)),
                .init(path: "a/\u{0}ü", revision: nil),
            ],
            queries: [
                .init(query: query, found: [.init(path: "a/1", revision: Revision(number: 1))])
            ],
            position: ChangeCursor(bytes: [0, 255, 7])
        )
        let hash = try WritesHash([])
        let kinds: [OpenTransaction.Kind] = [
            .readWrite, .readOnly(asOf: nil), .readOnly(asOf: time),
        ]
        for kind in kinds {
            for phase in [OpenTransaction.Phase.open, .isBeingCommitted(hash), .committed(hash)] {
                let moment = kind.time == nil ? ReadMoment(ofHistory: time, in: adapter) : nil
                var transaction = OpenTransaction(kind, in: phase, at: moment)
                transaction.add(reads)
                let bytes = try RecordedTransaction.encoded(transaction)
                let decoded = try RecordedTransaction.decoded(bytes, from: adapter)
                #expect(decoded.kind == kind)
                #expect(decoded.phase == phase)
                #expect(decoded.time == time || kind == .readWrite)
                #expect(Set(decoded.reads.documents) == Set(reads.documents))
                #expect(decoded.reads.queries == reads.queries)
                #expect(decoded.reads.position == reads.position)
                #expect(decoded.readCount == transaction.readCount)
            }
        }
        #expect(throws: StorageError.self) {
            try RecordedTransaction.decoded(Array("{}".utf8), from: adapter)
        }
    }
}

/// A store with one connection for its records, on which requests take place in their order.
private final class QueuedRecords: ForwardingStorageAdapter, SharedRecords {
    let upstream: any StorageAdapter
    private let records: SharingStorageAdapter
    private let connection = TaskQueue()

    init(_ records: SharingStorageAdapter) {
        upstream = records
        self.records = records
    }

    var sharedRecords: (any SharedRecords)? { self }

    /// Waits for the connection, and lets other requests arrive behind this one.
    private func begin() async throws(StorageError) {
        guard await connection.enter() else { throw StorageError(.cancelled, "canceled") }
        await Task.yield()
    }

    func sharedRecord(_ key: String) async throws(StorageError) -> SharedRecord? {
        try await begin()
        defer { connection.leave() }
        return records.sharedRecord(key)
    }

    func replaceSharedRecord(
        _ key: String,
        at version: Int64?,
        with content: [UInt8],
        keptFor duration: Duration
    ) async throws(StorageError) -> Bool {
        try await begin()
        defer { connection.leave() }
        return records.replaceSharedRecord(key, at: version, with: content, keptFor: duration)
    }

    func removeSharedRecord(_ key: String) async throws(StorageError) {
        try await begin()
        defer { connection.leave() }
        records.removeSharedRecord(key)
    }
}
