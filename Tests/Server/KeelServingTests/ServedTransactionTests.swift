import HTTPTypes
import KeelStorage
import KeelStorageFirestore
import KeelTestKit
import Testing

@testable import KeelServing

@Suite("Transactions over the protocol")
struct ServedTransactionTests {
    @Test("A commit succeeds if its reads still hold, and ends its token")
    func commits() async throws {
        let served = Served()
        try await served.set("a/1", n: 1)
        let token = try await served.begin()
        _ = try await served.read("a/1", in: token)
        let answer = try await served.commit("a/1", n: 2, in: token)
        #expect(answer.status == 200)
        let again = try await served.commit("a/2", n: 3, in: token)
        #expect(again.status == 409)
        #expect(again.error == "ABORTED")
    }

    @Test("A document that changed since it was read aborts the commit")
    func conflict() async throws {
        let served = Served()
        try await served.set("a/1", n: 1)
        for path in ["a/1", "a/missing"] {
            let token = try await served.begin(#"{"readWrite":{}}"#)
            _ = try await served.read(path, in: token)
            try await served.set(path, n: 7)
            let answer = try await served.commit("a/2", n: 2, in: token)
            #expect(answer.status == 409)
            #expect(answer.error == "ABORTED")
            #expect(answer.reason == "conflict")
        }
        let missing = try await served.send(.get, "/a/2")
        #expect(missing.status == 404)
        #expect(served.transactionCount == 0)
    }

    @Test("Gets, queries, listings and aggregations count as reads")
    func otherReads() async throws {
        let served = Served()
        let query = #""structuredQuery":{"from":[{"collectionId":"a"}]}"#
        for (number, kind) in ["get", "query", "list", "aggregation"].enumerated() {
            let token = try await served.begin()
            let answer =
                switch kind {
                case "get": try await served.send(.get, "/a/\(number)?transaction=\(token)")
                case "query":
                    try await served.send(
                        .post,
                        ":runQuery",
                        #"{\#(query),"transaction":"\#(token)"}"#
                    )
                case "list": try await served.send(.get, "/a?transaction=\(token)")
                default:
                    try await served.send(
                        .post,
                        ":runAggregationQuery",
                        #"""
                        {"structuredAggregationQuery":{\#(query),
                        "aggregations":[{"count":{}}]},"transaction":"\#(token)"}
                        """#
                    )
                }
            #expect(answer.status == (kind == "get" ? 404 : 200))
            try await served.set("a/\(number)", n: number)
            let aborted = try await served.commit("b/1", n: 2, in: token)
            #expect(aborted.error == "ABORTED", "\(kind)")
        }
    }

    @Test("A transaction can begin with a read")
    func beginsWithRead() async throws {
        let served = Served()
        try await served.set("a/1", n: 1)
        let query =
            #"""
            {"structuredQuery":{"from":[{"collectionId":"a"}]},
            "newTransaction":{"readWrite":{}}}
            """#
        let found = try await served.send(.post, ":runQuery", query)
        let token = try #require(found.json.elements?.first?["transaction"]?.text)
        let committed = try await served.commit("a/2", n: 2, in: token)
        #expect(committed.status == 200)
        let get = #"{"documents":["\#(Served.name("a/2"))"],"newTransaction":{"readOnly":{}}}"#
        let read = try await served.send(.post, ":batchGet", get)
        let second = try #require(read.json.elements?.first?["transaction"]?.text)
        try await served.set("a/2", n: 3)
        // The transaction continues to read the past, so there is nothing to check at its end.
        let old = try await served.read("a/2", in: second)
        #expect(old.json.elements?.first?["found"]?["fields"]?["n"] == ["integerValue": "2"])
        let checked = try await served.send(.post, ":commit", #"{"transaction":"\#(second)"}"#)
        #expect(checked.status == 200)
    }

    @Test("A read-only transaction rejects writes")
    func readOnly() async throws {
        let served = Served()
        let token = try await served.begin(#"{"readOnly":{}}"#)
        let answer = try await served.commit("a/1", n: 1, in: token)
        #expect(answer.error == "INVALID_ARGUMENT")
        let past = #"{"options":{"readOnly":{"readTime":"2026-01-01T00:00:00Z"}}}"#
        let refused = try await served.send(.post, ":beginTransaction", past)
        #expect(refused.error == "UNIMPLEMENTED")
    }

    @Test("A transaction that was rolled back or retried is finished")
    func ends() async throws {
        let served = Served()
        let first = try await served.begin()
        let second = try await served.begin(#"{"readWrite":{"retryTransaction":"\#(first)"}}"#)
        let rolledBack = try await served.send(.post, ":rollback", #"{"transaction":"\#(second)"}"#)
        #expect(rolledBack.json == .object([]))
        for token in [first, second] {
            let answer = try await served.commit("a/1", n: 1, in: token)
            #expect(answer.error == "ABORTED")
            let read = try await served.read("a/1", in: token)
            #expect(read.error == "ABORTED")
        }
        let again = try await served.send(.post, ":rollback", #"{"transaction":"\#(second)"}"#)
        #expect(again.status == 200)
    }

    @Test("An invalid token is permanently rejected", arguments: ["x", "aGVsbG8=", "%"])
    func garbage(token: String) async throws {
        let served = Served()
        let answer = try await served.commit("a/1", n: 1, in: token)
        #expect(answer.error == "INVALID_ARGUMENT")
        let body = #"{"options":{"readWrite":{"retryTransaction":"\#(token)"}}}"#
        let begun = try await served.send(.post, ":beginTransaction", body)
        #expect(begun.error == "INVALID_ARGUMENT")
    }

    @Test("A transaction ends when it is idle for too long or too old")
    func expires() async throws {
        let served = Served { $0.transactionLifetime = .seconds(150) }
        let idle = try await served.begin()
        await served.clock.advance(by: .seconds(61))
        let late = try await served.commit("a/1", n: 1, in: idle)
        #expect(late.error == "ABORTED")
        let busy = try await served.begin()
        for _ in 0..<3 {
            await served.clock.advance(by: .seconds(50))
            let answer = try await served.read("a/1", in: busy)
            #expect(answer.status == 200)
        }
        await served.clock.advance(by: .seconds(1))
        let old = try await served.read("a/1", in: busy)
        #expect(old.error == "ABORTED")
        #expect(served.transactionCount == 0)
    }

    @Test("Excess transactions evict the least recently used ones")
    func pushesOut() async throws {
        let served = Served { $0.maximumTransactions = 3 }
        var tokens: [String] = []
        for _ in 0..<4 {
            tokens.append(try await served.begin())
            await served.clock.advance(by: .seconds(1))
        }
        #expect(served.transactionCount == 3)
        let first = try await served.read("a/1", in: tokens[0])
        #expect(first.error == "ABORTED")
        let last = try await served.read("a/1", in: tokens[3])
        #expect(last.status == 200)
    }

    @Test("Reads are limited per transaction and for all transactions")
    func boundedReads() async throws {
        let served = Served {
            $0.maximumReadsPerTransaction = 5
            $0.maximumReads = 8
        }
        for n in 0..<5 { try await served.set("a/\(n)", n: n) }
        let query = #""structuredQuery":{"from":[{"collectionId":"a"}]}"#
        let token = try await served.begin()
        let body = #"{\#(query),"transaction":"\#(token)"}"#
        let answer = try await served.send(.post, ":runQuery", body)
        #expect(answer.error == "INVALID_ARGUMENT")
        #expect(answer.reason == "tooLarge")
        #expect(served.transactionCount == 0)
        var tokens: [String] = []
        for _ in 0..<3 {
            let token = try await served.begin()
            for n in 0..<4 { _ = try await served.read("a/\(n)", in: token) }
            tokens.append(token)
            await served.clock.advance(by: .seconds(1))
        }
        #expect(served.transactionCount == 2)
        let pushedOut = try await served.read("a/1", in: tokens[0])
        #expect(pushedOut.error == "ABORTED")
    }

    @Test("Transactions with many reads are evicted for their reads, and not those with few")
    func sharedReads() async throws {
        let served = Served {
            $0.maximumReadsPerTransaction = 5
            $0.maximumReads = 8
        }
        for n in 0..<4 { try await served.set("a/\(n)", n: n) }
        var tokens: [String] = []
        for count in [1, 4, 4] {
            let token = try await served.begin()
            for n in 0..<count { _ = try await served.read("a/\(n)", in: token) }
            tokens.append(token)
            await served.clock.advance(by: .seconds(1))
        }
        let small = try await served.read("a/0", in: tokens[0])
        #expect(small.status == 200)
        let large = try await served.read("a/0", in: tokens[1])
        #expect(large.error == "ABORTED")
    }

    @Test("A commit that failed transiently can be retried")
    func passingFailure() async throws {
        let adapter = InMemoryStorageAdapter().failing([nil, .failure(StorageError(.busy, "busy"))])
        let served = Served(adapter)
        let token = try await served.begin()
        _ = try await served.read("a/1", in: token)
        let body = Served.commit("a/1", n: 1, transaction: token)
        let busy = try await served.send(.post, ":commit", body)
        #expect(busy.status == 503)
        #expect(busy.error == "UNAVAILABLE")
        #expect(busy.head.headerFields[.retryAfter] == "1")
        let again = try await served.send(.post, ":commit", body)
        #expect(again.status == 200)
    }

    @Test("A transaction's commit sent twice takes effect once")
    func repeated() async throws {
        let served = Served()
        try await served.set("a/1", n: 1)
        let token = try await served.begin()
        _ = try await served.read("a/1", in: token)
        let transform =
            #"""
            ,"updateMask":{},"updateTransforms":[{"fieldPath":"n",
            "increment":{"integerValue":"1"}}]
            """#
        let body =
            #"{"writes":[\#(Served.write("a/1", n: 0, transform))],"transaction":"\#(token)"}"#
        let first = try await served.send(.post, ":commit", body)
        let second = try await served.send(.post, ":commit", body)
        #expect(first.status == 200)
        #expect(second.json == first.json)
        let found = try await served.send(.get, "/a/1")
        #expect(found.json["fields"]?["n"] == ["integerValue": "2"])
    }
    @Test("A commit that is repeated after the server was started anew takes effect once")
    func restarted() async throws {
        let adapter = InMemoryStorageAdapter()
        let served = Served(adapter)
        let token = try await served.begin()
        let body = Served.commit("a/1", n: 2, transaction: token)
        let first = try await served.send(.post, ":commit", body)
        #expect(first.status == 200)
        try await served.set("a/1", n: 7)
        let second = try await Served(adapter).send(.post, ":commit", body)
        #expect(second.bytes == first.bytes)
        let found = try await served.send(.get, "/a/1")
        #expect(found.json["fields"]?["n"] == ["integerValue": "7"])
    }
}
