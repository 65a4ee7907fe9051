import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Storing of responses", .timeLimit(.minutes(1)))
struct StoringTests {
    private func pieces(_ count: Int, _ size: Int) -> [[UInt8]] {
        (0..<count).map { [UInt8](repeating: UInt8($0 % 251), count: size) }
    }

    @Test("A body is passed on in chunks and stored at its end")
    func streams() async throws {
        let chunks = pieces(5, 1000)
        let bench = CacheBench([.chunks(chunks, headers: [.cacheControl: "max-age=60"])])
        let reply = try await bench.open()
        var body = reply.body.makeAsyncIterator()
        for chunk in chunks {
            #expect(bench.cache.statistics.storedResponses == 0)
            #expect(try await body.next().map { Array($0) } == chunk)
        }
        #expect(try await body.next() == nil)
        #expect(bench.cache.statistics.storedResponses == 1)
        let second = try await bench.open()
        #expect(second.cacheResult == .fresh)
        #expect(try await second.body.collect(upTo: .max) == chunks.flatMap { $0 })
        #expect(bench.requestCount == 1)
    }

    @Test("A slow body does not replace a response that was requested after its head had arrived")
    func keepsLaterResponse() async throws {
        let bench = CacheBench([CacheBench.text("old"), CacheBench.text("new")])
        let slow = try await bench.open()
        await bench.pass(1)
        #expect(try await bench.send(policy: .reload).text == "new")
        #expect(try await slow.body.collect(upTo: .max).count == 3)
        let outcome = try await bench.send()
        #expect(outcome.text == "new")
        #expect(outcome.result == .fresh)
        #expect(bench.cache.statistics.storedResponses == 1)
    }

    @Test("A body is stored even if its reader stops at the announced length")
    func storesAtLength() async throws {
        let bench = CacheBench([CacheBench.text("soup")])
        let reply = try await bench.open()
        var body = reply.body.makeAsyncIterator()
        #expect(try await body.next().map { Array($0) } == Array("soup".utf8))
        #expect(try await bench.send().result == .fresh)
    }

    @Test("A truncated body is not stored, and its error reaches the caller")
    func dropsBroken() async throws {
        let bench = CacheBench([
            .chunks(
                pieces(2, 10),
                headers: [.cacheControl: "max-age=60"],
                thenThrow: TransportError(.connectionLost, phase: .readBody)
            ),
            CacheBench.text("whole"),
        ])
        await expectError(TransportError.self, .connectionLost) { try await bench.send() }
        #expect(try await bench.send().text == "whole")
        #expect(bench.cache.statistics.unfinishedBodies == 1)
    }

    @Test(
        "The beginning of a body that an error keeps is not stored as the whole",
        arguments: [nil, TransportError(.connectionLost, phase: .readBody)] as [TransportError?]
    )
    func dropsBeginnings(failure: TransportError?) async throws {
        let fields: HTTPFields = [.cacheControl: "max-age=60"]
        let bench = CacheBench([
            .chunks([Array("not ".utf8)], status: .notFound, headers: fields, thenThrow: failure),
            .chunks([Array("not here".utf8)], status: .notFound, headers: fields),
        ])
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.cacheResponses(in: bench.cache)
        // Without a failure, the limit of the error is what cuts the body.
        if failure == nil { configuration.errorBodyLimit = 3 }
        let client = NetworkClient(configuration, transport: bench.origin)
        await expectError(NetworkError.self, .notFound) { try await client.request(GetMenu()) }
        let response = try await client.response(to: GetMenu()).get()
        #expect(String(decoding: response.body, as: UTF8.self) == "not here")
        #expect(response.cacheResult == .network)
    }

    @Test("A body shorter than announced is not stored")
    func dropsShort() async throws {
        let short = ScriptedHTTPTransport.Answer.status(
            .ok,
            headers: [.cacheControl: "max-age=60", .contentLength: "10"],
            body: [1, 2, 3]
        )
        let bench = CacheBench([short, CacheBench.text("whole")])
        #expect(try await bench.send().text.utf8.count == 3)
        #expect(try await bench.send().text == "whole")
        #expect(bench.cache.statistics.storedResponses == 1)
    }

    @Test("An abandoned body is not stored, and its file is released")
    func dropsAbandoned() async throws {
        let tier = FilingTier()
        let bench = CacheBench(
            [.chunks(pieces(4, 1000), headers: [.cacheControl: "max-age=60"])],
            tier: tier
        ) { $0.fileThreshold = 1500 }
        do {
            let reply = try await bench.open()
            var body = reply.body.makeAsyncIterator()
            for _ in 0..<3 { _ = try await body.next() }
        }
        #expect(tier.begun == 1)
        #expect(tier.finished == 0)
        #expect(bench.cache.statistics.storedResponses == 0)
        #expect(bench.cache.statistics.unfinishedBodies == 1)
    }

    @Test("A large body is stored in a file and served whole and in ranges")
    func usesFiles() async throws {
        let tier = FilingTier()
        let chunks = pieces(300, 1000)
        let bench = CacheBench(
            [.chunks(chunks, headers: [.cacheControl: "max-age=60"])],
            tier: tier
        ) { $0.fileThreshold = 10_000 }
        _ = try await bench.send()
        #expect(tier.finished == 1)
        let reply = try await bench.open()
        #expect(try await reply.body.collect(upTo: .max) == chunks.flatMap { $0 })
        let part = try await bench.open(.get, "/menu", [.range: "bytes=999-1000"])
        #expect(part.head.status == .partialContent)
        #expect(try await part.body.collect(upTo: .max) == [0, 1])
        #expect(bench.requestCount == 1)
    }

    @Test("A damaged file is a miss if its start is damaged or the whole body is read")
    func missesDamaged() async throws {
        let tier = FilingTier()
        let answer = ScriptedHTTPTransport.Answer.chunks(
            pieces(300, 1000),
            headers: [.cacheControl: "max-age=60"]
        )
        let bench = CacheBench([answer, answer, answer, CacheBench.text("new")], tier: tier) {
            $0.fileThreshold = 10_000
        }
        try await bench.send()
        tier.damage(from: 0)
        #expect(try await bench.send().result == .network)
        tier.damage(from: 100_000)
        // Read as by a client that collects the whole body.
        var call = HTTPCall(HTTPRequest("https://api.example.com/menu"))
        call.collection = BodyCollection(limit: 1 << 20)
        let whole = try await bench.cache.send(call, over: bench.origin)
        #expect(whole.cacheResult == .network)
        #expect(try await whole.body.collect(upTo: .max).count == 300_000)
        await expectError(TransportError.self, .truncatedBody) { try await bench.send() }
        #expect(try await bench.send().text == "new")
    }

    @Test("A body beyond the limit is passed on but not stored")
    func keepsLimit() async throws {
        let answer = ScriptedHTTPTransport.Answer.chunks(
            pieces(10, 1000),
            headers: [.cacheControl: "max-age=60"]
        )
        let bench = CacheBench([answer, answer]) { $0.memoryBodyLimit = 5000 }
        #expect(try await bench.open().body.collect(upTo: .max).count == 10_000)
        #expect(try await bench.send().result == .network)
        #expect(bench.cache.statistics.storedResponses == 0)
    }

    @Test("A tier read failure is a miss and appears in the statistics")
    func survivesReadFaults() async throws {
        let clock = TestClock()
        let tier = FaultyTier(.following(clock))
        let bench = CacheBench([CacheBench.text("one"), CacheBench.text("two")], tier: tier)
        try await bench.send()
        tier.fail([.read])
        #expect(try await bench.send().text == "two")
        #expect(bench.cache.statistics.tierFailures > 0)
    }

    @Test("A tier write failure stores nothing, and the call succeeds")
    func survivesWriteFaults() async throws {
        let clock = TestClock()
        let tier = FaultyTier(.following(clock))
        tier.fail([.write, .makeFile])
        let bench = CacheBench(
            [CacheBench.text("one"), CacheBench.text("two")],
            tier: tier
        ) { $0.fileThreshold = 1 }
        #expect(try await bench.send().text == "one")
        #expect(try await bench.send().text == "two")
        #expect(bench.cache.statistics.storedResponses == 0)
    }

    @Test("A removal that the tier rejects still takes effect and is repeated later")
    func remembersRemovals() async throws {
        let clock = TestClock()
        let tier = FaultyTier(.following(clock))
        let bench = CacheBench(
            [
                CacheBench.text("old"), .status(.noContent), CacheBench.text("new"),
                CacheBench.text("newer"),
            ],
            tier: tier
        )
        try await bench.send()
        tier.fail([.remove])
        try await bench.send(.put)
        #expect(try await bench.send().text == "new")
        tier.fail([])
        #expect(try await bench.send().text == "newer")
        #expect(try await bench.send().result == .fresh)
    }

    @Test(
        "A refused condition, range or expectation is not stored for requests without one",
        arguments: [
            ("If-Match", "\"x\"", HTTPResponse.Status.preconditionFailed),
            ("Range", "bytes=99-", .rangeNotSatisfiable), ("Expect", "x", .expectationFailed),
        ]
    )
    func refusals(name: String, value: String, status: HTTPResponse.Status) async throws {
        let bench = CacheBench(
            [.status(status, headers: [.cacheControl: "max-age=60"])],
            then: CacheBench.text("soup")
        )
        let field = try #require(HTTPField.Name(name))
        #expect(try await bench.send(.get, "/menu", [field: value]).status == status.code)
        #expect(try await bench.send().text == "soup")
    }

    @Test("A response of RFC 6585 is not stored", arguments: [428, 429, 431, 511])
    func additionalStatuses(code: Int) async throws {
        let bench = CacheBench(
            [.status(HTTPResponse.Status(code: code), headers: [.cacheControl: "max-age=60"])],
            then: CacheBench.text("soup")
        )
        #expect(try await bench.send().status == code)
        #expect(try await bench.send().text == "soup")
    }

    @Test("A newer response that may not be stored still removes the older one")
    func forgetsOlder() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=3600"), CacheBench.text("new", "no-store"),
            CacheBench.text("newer"),
        ])
        try await bench.send()
        #expect(try await bench.send(policy: .reload).text == "new")
        #expect(try await bench.send().text == "newer")
    }

    @Test("A response requested before a change is not stored after it")
    func keepsOrder() async throws {
        let bench = CacheBench([
            .chunks([[1], [2]], headers: [.cacheControl: "max-age=60"]), .status(.noContent),
            CacheBench.text("new"),
        ])
        let reply = try await bench.open()
        try await bench.send(.delete)
        _ = try await reply.body.collect(upTo: .max)
        #expect(try await bench.send().text == "new")
    }

    @Test("Removing everything also discards responses in progress")
    func removesAll() async throws {
        let bench = CacheBench([
            CacheBench.text("a"), .chunks([[1], [2]], headers: [.cacheControl: "max-age=60"]),
            CacheBench.text("new"), CacheBench.text("new"),
        ])
        try await bench.send(.get, "/a")
        let reply = try await bench.open()
        try await bench.cache.removeAll()
        _ = try await reply.body.collect(upTo: .max)
        #expect(try await bench.send().text == "new")
        #expect(try await bench.send(.get, "/a").text == "new")
    }
}
