import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

@Suite("Revalidation", .timeLimit(.minutes(1)))
struct RevalidationTests {
    private typealias Answer = ScriptedHTTPTransport.Answer

    private func client(
        _ bench: CacheBench,
        _ change: (inout NetworkClient.Configuration) -> Void = { _ in }
    ) throws -> NetworkClient {
        var configuration = try NetworkClient.Configuration("https://api.example.com")
        configuration.retry = .never
        configuration.timeout = nil
        configuration.hopMiddleware = [HTTPCachingMiddleware(bench.cache)]
        change(&configuration)
        return NetworkClient(configuration, transport: bench.origin)
    }

    private static func thousandCalls(_ client: NetworkClient) -> [Task<[UInt8], any Error>] {
        (1...1000).map { _ in Task { try await client.response(to: GetMenu()).get().body } }
    }

    @Test("Status 304 renews the stored response and its fields but keeps the body")
    func renews() async throws {
        let news = Answer.status(
            .notModified,
            headers: [.cacheControl: "max-age=600", .eTag: "\"1\"", .server: "b"]
        )
        let first = CacheBench.text("soup", "max-age=60", [.eTag: "\"1\"", .server: "a"])
        let bench = CacheBench([first, news])
        try await bench.send()
        await bench.pass(61)
        let second = try await bench.send()
        #expect(second.result == .revalidated)
        #expect(second.status == 200)
        #expect(second.text == "soup")
        #expect(second.fields[.server] == "b")
        #expect(bench.origin.calls.last?.head.headerFields[.ifNoneMatch] == "\"1\"")
        await bench.pass(500)
        #expect(try await bench.send().result == .fresh)
        #expect(bench.requestCount == 2)
    }

    @Test(
        "A silent origin is unreachable in time for a stored response, whatever the call's limit",
        arguments: [5, 60],
        [true, false]
    )
    func silence(limit: Int, hasTag: Bool) async throws {
        let tag: HTTPFields = hasTag ? [.eTag: "\"1\""] : [:]
        let gate = Gate()
        let silent = Answer { _ async throws(TransportError) in
            // Until the task is canceled.
            _ = try? await gate.pass()
            throw TransportError(.cancelled)
        }
        let bench = CacheBench([CacheBench.text("old", "max-age=60", tag)], then: silent)
        let client = try client(bench) {
            $0.clock = bench.clock
            $0.timeout = .seconds(limit)
        }
        var options = HTTPCallOptions()
        options.cachePolicy = .staleWhenOffline
        _ = try await client.response(to: GetMenu(), options: options).get()
        await bench.pass(3600)
        let start = bench.clock.elapsed
        let response = try await bench.clock.run { [options] in
            await client.response(to: GetMenu(), options: options)
        }.get()
        #expect(response.cacheResult == .stale(.offline))
        // The clock may move on to the deadline while the reply is on its way to the caller.
        #expect(bench.clock.elapsed - start <= .seconds(limit))
        let error = try await bench.clock.run {
            await client.response(to: GetMenu())
        }.failure
        #expect(error?.code == .deadlineExceeded)
    }

    @Test("A Vary that came with status 304 binds the stored response to the fields of its call")
    func takesVary() async throws {
        let vary: HTTPFields = [.eTag: "\"1\"", .vary: "Accept-Language"]
        let bench = CacheBench([
            CacheBench.text("de", "max-age=60", [.eTag: "\"1\""]),
            .status(.notModified, headers: vary),
            CacheBench.text("en", "max-age=60", vary),
        ])
        try await bench.send(.get, "/menu", [.acceptLanguage: "de"])
        await bench.pass(61)
        for language in ["de", "en", "de"] {
            let outcome = try await bench.send(.get, "/menu", [.acceptLanguage: language])
            #expect(outcome.text == language)
        }
        #expect(bench.requestCount == 3)
    }

    @Test("A stored response that varies by everything since a 304 is not used again")
    func dropsUnmatched() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            .status(.notModified, headers: [.eTag: "\"1\"", .vary: "*"]),
            CacheBench.text("new"),
        ])
        try await bench.send()
        await bench.pass(61)
        #expect(try await bench.send().text == "old")
        #expect(try await bench.send().text == "new")
    }

    @Test("A call that waits for a shared 304 asks itself if the 304 brings a Vary")
    func sharesNoVary() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("de", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("", status: .notModified, tag: "\"1\"", vary: "Accept-Language"),
            CacheBench.text("en", "max-age=60", [.vary: "Accept-Language"]),
        ])
        let german = try client(bench) { $0.defaultHeaders[.acceptLanguage] = "de" }
        let english = try client(bench) { $0.defaultHeaders[.acceptLanguage] = "en" }
        _ = try await german.response(to: GetMenu()).get()
        await bench.pass(61)
        let first = Task { try await german.response(to: GetMenu()).get().body }
        try await waitUntil { bench.cache.waitingCalls == 1 }
        let second = Task { try await english.response(to: GetMenu()).get().body }
        try await waitUntil { bench.cache.waitingCalls == 2 }
        gate.open()
        #expect(try await first.value == Array("de".utf8))
        #expect(try await second.value == Array("en".utf8))
    }

    @Test("Status 304 about another version does not renew the stored response")
    func refusesForeign304() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            .status(.notModified, headers: [.eTag: "\"2\""]),
            CacheBench.text("new", "max-age=60", [.eTag: "\"2\""]),
        ])
        try await bench.send()
        await bench.pass(61)
        let outcome = try await bench.send()
        #expect(outcome.text == "new")
        #expect(bench.origin.calls.last?.head.headerFields[.ifNoneMatch] == nil)
    }

    @Test("A stream with an unusable 304 response is resent without waiting for its own slot")
    func givesPlaceBack() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            .status(.notModified, headers: [.eTag: "\"2\""]),
            CacheBench.text("new", "max-age=60", [.eTag: "\"2\""]),
        ])
        let client = try client(bench) { $0.attemptMiddleware = [ConcurrencyLimitMiddleware(1)] }
        try await bench.send()
        await bench.pass(61)
        let reply = try await client.send(HTTPCall(HTTPRequest("https://api.example.com/menu")))
        #expect(try await reply.body.collect(upTo: .max) == Array("new".utf8))
    }

    @Test("The client's tag is sent with the stored one, and a 304 about it is passed on")
    func mergesConditions() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            .status(.notModified, headers: [.eTag: "\"2\""]),
        ])
        try await bench.send()
        await bench.pass(61)
        let outcome = try await bench.send(.get, "/menu", [.ifNoneMatch: "\"2\""])
        #expect(outcome.status == 304)
        #expect(outcome.result == .network)
        #expect(bench.origin.calls.last?.head.headerFields[.ifNoneMatch] == "\"1\", \"2\"")
    }

    @Test("A stale response within stale-while-revalidate is returned without waiting")
    func doesNotWait() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60, stale-while-revalidate=30"),
            gate.answer("new"),
        ])
        try await bench.send()
        await bench.pass(70)
        // The origin does not answer until the gate is opened.
        for _ in 0..<3 {
            let outcome = try await bench.send()
            #expect(outcome.text == "old")
            #expect(outcome.result == .stale(.revalidating))
        }
        #expect(bench.cache.revalidationCount == 1)
        gate.open()
        await bench.cache.waitForRevalidations()
        let outcome = try await bench.send()
        #expect(outcome.text == "new")
        #expect(outcome.result == .fresh)
        #expect(bench.requestCount == 2)
        #expect(bench.cache.statistics.backgroundRevalidations == 1)
    }

    @Test("After the stale-while-revalidate window, a call waits for the origin")
    func keepsWindow() async throws {
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60, stale-while-revalidate=30"),
            CacheBench.text("new"),
        ])
        try await bench.send()
        await bench.pass(91)
        #expect(try await bench.send().text == "new")
    }

    @Test("A silent origin occupies a background slot only until the timeout")
    func limitsBackground() async throws {
        let bench = CacheBench(
            [CacheBench.text("old", "max-age=60, stale-while-revalidate=600"), .stall],
            then: CacheBench.text("new")
        ) {
            $0.backgroundLimit = 1
            $0.backgroundTimeout = .seconds(30)
        }
        try await bench.send()
        await bench.pass(61)
        #expect(try await bench.send().text == "old")
        try await waitUntil { bench.requestCount == 2 }
        #expect(try await bench.send().text == "old")
        #expect(bench.cache.revalidationCount == 1)
        await bench.clock.waitForSleepers()
        await bench.pass(30)
        await bench.cache.waitForRevalidations()
        #expect(try await bench.send().text == "old")
        await bench.cache.waitForRevalidations()
        #expect(try await bench.send().text == "new")
    }

    @Test("A background revalidation is canceled with the cache's last user")
    func endsWithOwner() async throws {
        let gate = Gate()
        do {
            let bench = CacheBench([
                CacheBench.text("old", "max-age=60, stale-while-revalidate=30"),
                gate.answer("new"),
            ])
            try await bench.send()
            await bench.pass(70)
            try await bench.send()
            try await waitUntil { gate.begunCount == 1 }
            withExtendedLifetime(bench) {}
        }
        try await waitUntil { gate.cancelledCount == 1 }
    }

    @Test("A thousand calls for a stale response share one request answered with 304")
    func sharesValidation() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("soup", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("", status: .notModified, tag: "\"1\""),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let calls = (1...1000).map { _ in Task { try await client.response(to: GetMenu()).get() } }
        try await waitUntil { bench.cache.waitingCalls == 1000 }
        gate.open()
        for call in calls {
            let response = try await call.value
            #expect(response.body == Array("soup".utf8))
            #expect(response.cacheResult == .revalidated)
        }
        #expect(bench.requestCount == 2)
        #expect(bench.cache.statistics.sharedRevalidations == 999)
    }

    @Test("A thousand calls for a stale response share one request answered with a new response")
    func sharesReplacement() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("new", tag: "\"2\""),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let calls = Self.thousandCalls(client)
        try await waitUntil { bench.cache.waitingCalls == 1000 }
        gate.open()
        for call in calls { #expect(try await call.value == Array("new".utf8)) }
        #expect(bench.requestCount == 2)
    }

    @Test("A thousand calls within stale-while-revalidate start one revalidation")
    func sharesBackground() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60, stale-while-revalidate=30"),
            gate.answer("new"),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let calls = Self.thousandCalls(client)
        for call in calls { #expect(try await call.value == Array("old".utf8)) }
        gate.open()
        await bench.cache.waitForRevalidations()
        #expect(bench.requestCount == 2)
    }

    @Test("With coalescing below the cache, a thousand misses send one request")
    func coalescesMisses() async throws {
        let gate = Gate()
        let bench = CacheBench([gate.answer("new")])
        let coalescing = CoalescingMiddleware()
        let client = try client(bench) {
            $0.hopMiddleware = [coalescing]
            $0.cacheResponses(in: bench.cache)
        }
        let calls = Self.thousandCalls(client)
        try await waitUntil { coalescing.waiterCount == 1000 }
        gate.open()
        for call in calls { #expect(try await call.value == Array("new".utf8)) }
        #expect(try await client.response(to: GetMenu()).get().cacheResult == .fresh)
        #expect(bench.requestCount == 1)
    }

    @Test("Canceling one of several calls that share a revalidation does not affect the others")
    func survivesCancellation() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("soup", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("", status: .notModified, tag: "\"1\""),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let first = Task { await client.response(to: GetMenu()) }
        try await waitUntil { gate.begunCount == 1 }
        let second = Task { try await client.response(to: GetMenu()).get() }
        try await waitUntil { bench.cache.waitingCalls == 2 }
        first.cancel()
        try await waitUntil { bench.cache.waitingCalls == 1 }
        gate.open()
        #expect(try await second.value.cacheResult == .revalidated)
        #expect(await (try? first.value.get()) == nil)
    }

    @Test("The observer of a download gets the bytes of a response that others wait for as well")
    func showsBytes() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("new", tag: "\"2\""), gate.answer("new", tag: "\"2\""),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let first = Task { await client.response(to: GetMenu()) }
        try await waitUntil { gate.begunCount == 1 }
        let seen = Mutex<[UInt8]>([])
        let observer = TransferObserver.chunks { bytes in seen.withLock { $0 += bytes } }
        let second = Task { try await client.download(from: GetMenu(), observer: observer) }
        try await waitUntil { gate.begunCount == 2 || bench.cache.waitingCalls == 2 }
        gate.open()
        #expect(try await second.value == Data("new".utf8))
        #expect(seen.withLock { $0 } == Array("new".utf8))
        #expect(try await first.value.get().body == Array("new".utf8))
    }

    @Test("A call after a change shares no revalidation that began before it")
    func separatesByChanges() async throws {
        let gate = Gate()
        let bench = CacheBench([
            CacheBench.text("old", "max-age=60", [.eTag: "\"1\""]),
            gate.answer("", status: .notModified, tag: "\"1\""),
            .status(.noContent),
            CacheBench.text("new", "max-age=60", [.eTag: "\"2\""]),
        ])
        let client = try client(bench)
        _ = try await client.response(to: GetMenu()).get()
        await bench.pass(61)
        let early = Task { await client.response(to: GetMenu()) }
        try await waitUntil { gate.begunCount == 1 }
        try await bench.send(.put, "/menu/1")
        let late = Task { try await client.response(to: GetMenu()).get().body }
        try await waitUntil { bench.requestCount == 4 || bench.cache.waitingCalls == 2 }
        gate.open()
        #expect(try await late.value == Array("new".utf8))
        _ = await early.value
        #expect(try await bench.send().text == "new")
    }

    @Test("A redirect and its target are stored under their own URLs")
    func keepsRedirectsApart() async throws {
        let bench = CacheBench([
            .redirect(to: "https://api.example.com/today", status: .found),
            CacheBench.text("today", "max-age=60"),
            .redirect(to: "https://api.example.com/today", status: .found),
        ])
        let client = try client(bench)
        #expect(try await client.response(to: GetMenu()).get().body == Array("today".utf8))
        let second = try await client.response(to: GetMenu()).get()
        #expect(second.body == Array("today".utf8))
        #expect(second.cacheResult == .fresh)
        #expect(bench.origin.calls.map(\.head.path) == ["/menu", "/today", "/menu"])
    }

    @Test("HEAD is answered from a stored GET and renews or invalidates it")
    func learnsFromHead() async throws {
        let bench = CacheBench([
            CacheBench.text("soup", "max-age=60", [.eTag: "\"1\""]),
            .status(.ok, headers: [.eTag: "\"1\"", .cacheControl: "max-age=60"]),
            .status(.ok, headers: [.eTag: "\"2\"", .cacheControl: "max-age=60"]),
            CacheBench.text("new", "max-age=60", [.eTag: "\"2\""]),
        ])
        try await bench.send()
        let head = try await bench.send(.head)
        #expect(head.result == .fresh)
        #expect(head.text.isEmpty)
        await bench.pass(61)
        #expect(try await bench.send(.head).result == .network)
        #expect(try await bench.send().result == .fresh)
        await bench.pass(61)
        try await bench.send(.head)
        #expect(try await bench.send().text == "new")
        #expect(bench.requestCount == 4)
    }
}

struct GetMenu: Endpoint {
    typealias Response = [String]
    var path: EndpointPath { "/menu" }
}

extension Gate {
    /// Returns an answer that is delayed until the gate is open.
    fileprivate func answer(
        _ text: String,
        status: HTTPResponse.Status = .ok,
        tag: String? = nil,
        vary: String? = nil
    ) -> ScriptedHTTPTransport.Answer {
        var fields: HTTPFields = [.cacheControl: "max-age=60"]
        fields[.eTag] = tag
        fields[.vary] = vary
        let head = HTTPResponse(status: status, headerFields: fields)
        return ScriptedHTTPTransport.Answer { _ async throws(TransportError) in
            guard (try? await self.pass()) != nil else { throw TransportError(.cancelled) }
            return HTTPReply(head: head, body: .chunks([Array(text.utf8)]))
        }
    }
}
