import HTTPTypes
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Read time of a served transaction")
struct TransactionMomentTests {
    @Test(
        "All reads of a read-only transaction have the same read time",
        arguments: [nil, Duration.seconds(60)]
    )
    func oneMoment(history: Duration?) async throws {
        let served = Served(InMemoryStorageAdapter(clock: TestClock(), history: history))
        try await served.set("a/1", n: 1)
        let token = try await served.begin(#"{"readOnly":{}}"#)
        #expect(try await served.send(.get, "/a/1?transaction=\(token)").status == 200)
        try await served.set("a/1", n: 2)
        try await served.set("a/2", n: 2)
        let get = try await served.send(.get, "/a/1?transaction=\(token)")
        #expect(get.json["fields"]?["n"] == ["integerValue": "1"])
        let batch = try await served.read("a/2", in: token)
        #expect(batch.json.elements?.first?["missing"] != nil)
        let list = try await served.send(.get, "/a?transaction=\(token)")
        #expect(list.json["documents"]?.elements?.count == 1)
        let query = #""structuredQuery":{"from":[{"collectionId":"a"}]}"#
        let body = #"{\#(query),"transaction":"\#(token)"}"#
        let found = try await served.send(.post, ":runQuery", body)
        #expect(found.json.elements?.count { $0["document"] != nil } == 1)
        let counted = try await served.send(
            .post,
            ":runAggregationQuery",
            #"""
            {"structuredAggregationQuery":{\#(query),
            "aggregations":[{"count":{},"alias":"c"}]},"transaction":"\#(token)"}
            """#
        )
        let fields = counted.json.elements?.first?["result"]?["aggregateFields"]
        #expect(fields?["c"] == ["integerValue": "1"])
        let commit = try await served.send(.post, ":commit", #"{"transaction":"\#(token)"}"#)
        #expect(commit.status == 200)
    }

    @Test("A changed read aborts a read-write transaction, or one without a held state")
    func changedRead() async throws {
        for options in [#"{"readOnly":{}}"#, #"{"readWrite":{}}"#] {
            let store = InMemoryStorageAdapter(clock: TestClock())
            let served = Served(store)
            for n in 0..<8 {
                try await served.set("b/1", n: n)
                var request = ReadRequest(.documents([]))
                request.holdDuration = .seconds(60)
                #expect(try await store.read(request).time != nil)
            }
            try await served.set("a/1", n: 1)
            let token = try await served.begin(options)
            #expect(try await served.read("a/1", in: token).status == 200)
            // Documents that the transaction has not read may change.
            try await served.set("b/1", n: 9)
            #expect(try await served.read("a/2", in: token).status == 200)
            try await served.set("a/1", n: 2)
            let aborted = try await served.read("b/1", in: token)
            #expect(aborted.error == "ABORTED")
            #expect(aborted.reason == "conflict")
        }
    }

    @Test("Concurrent reads of a read-only transaction are consistent and not aborted by writes")
    func overtaken() async throws {
        // The store holds a state for a minute of its own clock, independent of the duration of the test.
        let upstream = InMemoryStorageAdapter(clock: TestClock())
        let (isWaiting, waiting) = AsyncStream.makeStream(of: Void.self)
        let (goesOn, going) = AsyncStream.makeStream(of: Void.self)
        // The first read of the transaction has its result, and is overtaken by a write and another read.
        let isArmed = Mutex(false)
        let store = MeddledStorageAdapter(
            upstream,
            afterReads: { _ in
                let waits = isArmed.withLock { isArmed in
                    defer { isArmed = false }
                    return isArmed
                }
                guard waits else { return }
                waiting.finish()
                for await _ in goesOn {}
            }
        )
        let served = Served(store)
        try await served.set("a/1", n: 1)
        try await served.set("a/2", n: 1)
        let token = try await served.begin()
        isArmed.withLock { $0 = true }
        let first = Task { try await served.read("a/1", in: token) }
        for await _ in isWaiting {}
        try await served.set("b/1", n: 1)
        #expect(try await served.read("a/2", in: token).status == 200)
        going.finish()
        #expect(try await first.value.status == 200)
        try await served.set("b/1", n: 2)
        #expect(try await served.commit("a/3", n: 1, in: token).status == 200)
    }

    @Test("Many concurrent reads of a transaction are consistent and not aborted by writes")
    func overtakenTogether() async throws {
        let upstream = InMemoryStorageAdapter(clock: TestClock())
        // Each read has a moment of its own. The first ones end together, and others during one another.
        let gate = Gate()
        let store = MeddledStorageAdapter(
            upstream,
            afterReads: { number in
                try await StorageClient(upstream).setDocument("b/1", ["n": .integer(number)])
                if number <= 100 { try await gate.pass() }
                for _ in 0..<20 { await Task.yield() }
            }
        )
        let served = Served(store)
        let token = try await served.begin()
        let statuses = try await withThrowingTaskGroup(of: Int.self) { group in
            for n in 0..<100 {
                group.addTask { try await served.read("a/\(n)", in: token).status }
            }
            try await waitUntil { gate.begunCount == 100 }
            gate.open()
            return try await group.reduce(into: []) { $0.append($1) }
        }
        #expect(statuses == Array(repeating: 200, count: 100))
        let commit = Served.commit("a/1", n: 1, transaction: token)
        #expect(try await served.send(.post, ":commit", commit).status == 200)
    }

    @Test("A held state ends with its transaction, and a lost one aborts it")
    func momentEnds() async throws {
        let clock = TestClock()
        let store = InMemoryStorageAdapter(clock: clock)
        let served = Served(store) { $0.clock = clock }
        try await served.set("a/1", n: 1)
        for _ in 0..<20 {
            let token = try await served.begin(#"{"readOnly":{}}"#)
            #expect(try await served.read("a/1", in: token).status == 200)
            try await served.set("a/1", n: 1)
            let commit = try await served.send(.post, ":commit", #"{"transaction":"\#(token)"}"#)
            #expect(commit.status == 200)
        }
        let token = try await served.begin(#"{"readOnly":{}}"#)
        #expect(try await served.read("a/1", in: token).status == 200)
        await clock.advance(by: .seconds(61))
        let late = try await served.read("a/1", in: token)
        #expect(late.error == "ABORTED")
    }
}
