import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Long responses")
struct LongReplyTests {
    private static let count = 1_500

    private static func id(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 5 - digits.count) + digits
    }

    /// Returns a store with documents `a/00000` and so on, with descending `n`.
    private static func filled(
        history: Duration?,
        padding: Int = 0
    ) async throws -> InMemoryStorageAdapter {
        // The store holds states, and keeps its history, by its own clock, however long a test takes.
        let store = InMemoryStorageAdapter(clock: TestClock(), history: history)
        let text = DocumentValue.string(String(repeating: "x", count: padding))
        let batches = (0..<count).map { number in
            let fields: DocumentFields = ["n": .integer(Int64(count - number)), "text": text]
            let path = DocumentPath(CollectionPath("a"), id(number))
            return WriteBatch([DocumentWrite(path, .set(DocumentBody(fields)))])
        }
        for result in try await store.commit(batches) { _ = try result.get() }
        return store
    }

    /// Returns a server with small pages.
    private static func served(_ store: some StorageAdapter) -> Served {
        Served(store) { ($0.firstPageBytes, $0.pageBytes) = (500_000, 100_000) }
    }

    private static var call: HTTPCall {
        let head = HTTPRequest(
            "http://localhost\(Served.root):runQuery",
            .post,
            [.contentType: "application/json"]
        )
        return HTTPCall(head, body: HTTPBody(Array(Self.query().utf8)))
    }

    private static func query(_ more: String = "") -> String {
        #"{"structuredQuery":{"from":[{"collectionId":"a"}]\#(more)}}"#
    }

    private func ids(_ answer: Served.Answer, _ part: String = "document") -> [String] {
        (answer.json.elements ?? []).compactMap { element in
            element[part]?["name"]?.text?.split(separator: "/").last.map(String.init)
        }
    }

    @Test("A query read in pages and sent in pieces returns each document once")
    func query() async throws {
        for history in [nil, Duration.seconds(60)] {
            let store = WatchedStore(try await Self.filled(history: history, padding: 300))
            let answer = try await Self.served(store).send(.post, ":runQuery", Self.query())
            #expect(answer.status == 200)
            #expect(answer.head.headerFields[.contentLength] == nil)
            #expect(ids(answer) == (0..<Self.count).map(Self.id))
            #expect(store.reads.count > 1)
            #expect(store.reads.first?.asOf == nil)
            let later = store.reads.dropFirst()
            #expect(later.filter { $0.holdDuration == nil }.allSatisfy { $0.asOf != nil })
        }
    }

    @Test(
        "Orders, limits, offsets, bounds and selections apply across pages",
        arguments: [
            #","orderBy":[{"field":{"fieldPath":"n"},"direction":"ASCENDING"}]"#,
            #","orderBy":[{"field":{"fieldPath":"n"}}],"select":{"fields":[{"fieldPath":"text"}]}"#,
            #","orderBy":[{"field":{"fieldPath":"__name__"},"direction":"DESCENDING"}]"#,
            #","limit":1200"#, #","limit":301,"offset":7"#, #","offset":900"#, #","limit":0"#,
            #","limit":300"#, #","select":{"fields":[{"fieldPath":"__name__"}]}"#,
            #","orderBy":[{"field":{"fieldPath":"n"}}],"startAt":{"values":[{"integerValue":5}]}"#,
        ]
    )
    func clauses(clauses: String) async throws {
        let served = Self.served(try await Self.filled(history: nil, padding: 300))
        let answer = try await served.send(.post, ":runQuery", Self.query(clauses))
        // A transaction reads everything at once.
        let whole = Self.query(clauses).dropLast() + #","newTransaction":{}}"#
        let expected = try await served.send(.post, ":runQuery", String(whole))
        #expect(answer.status == 200)
        #expect(ids(answer) == ids(expected))
        let fields = { (answer: Served.Answer) in
            (answer.json.elements ?? []).map { $0["document"]?["fields"] }
        }
        #expect(fields(answer) == fields(expected))
    }

    @Test(
        "All parts of a response have the same read time, with or without a history",
        arguments: [true, false],
        [":runQuery", ":batchGet", "/a"]
    )
    func oneMoment(hasHistory: Bool, place: String) async throws {
        let history: Duration? = hasHistory ? .seconds(60) : nil
        let upstream = try await Self.filled(history: history, padding: 300)
        // A write precedes each read but the first one, even before the store holds the moment.
        let store = WatchedStore(upstream) { number async throws(StorageError) in
            guard number > 1 else { return }
            for result in try await upstream.commit(Self.meddling(number)) { _ = try result.get() }
        }
        let served = Self.served(store)
        let names = (0..<Self.count).map { "\"\(Served.name("a/\(Self.id($0))"))\"" }
        let answer =
            switch place {
            case ":runQuery": try await served.send(.post, place, Self.query())
            case ":batchGet":
                try await served.send(
                    .post,
                    place,
                    #"{"documents":[\#(names.joined(separator: ","))]}"#
                )
            default: try await served.send(.get, "\(place)?pageSize=1000")
            }
        let elements = answer.json.elements ?? answer.json["documents"]?.elements ?? []
        let documents = elements.compactMap { element in
            element["document"] ?? element["found"] ?? (element["name"] == nil ? nil : element)
        }
        let count = place == "/a" ? 1_000 : Self.count
        #expect(documents.count == count)
        // If only some of the writers' documents were present, the moment would lie between their writes.
        let writers = documents.compactMap { $0["fields"]?["writer"]?["integerValue"]?.text }
        #expect(Set(writers).count <= 1)
        #expect(writers.isEmpty || writers.count == Self.written.count - (place == "/a" ? 1 : 0))
        #expect(store.reads.count > 2)
        let times = Set(elements.compactMap { $0["readTime"]?.text })
        #expect(times.count <= 1)
        // The store no longer holds a moment.
        guard !hasHistory, let held = store.reads.last(where: { $0.holdDuration == .zero }) else {
            #expect(hasHistory)
            return
        }
        await expectError(StorageError.self, .snapshotTooOld) {
            var past = ReadRequest(.documents([]))
            past.asOf = held.asOf
            _ = try await upstream.read(past)
        }
    }

    private static let written = [3, 700, 990, 1_400]

    private static func meddling(_ number: Int) -> [WriteBatch] {
        [
            WriteBatch(
                written.map { place in
                    DocumentWrite(
                        DocumentPath(CollectionPath("a"), id(place)),
                        .set(DocumentBody(["writer": .integer(Int64(number))]))
                    )
                }
            )
        ]
    }

    @Test("A store that cannot hold another state still sends long responses")
    func noRoom() async throws {
        let upstream = try await Self.filled(history: nil, padding: 300)
        for number in 0..<8 {
            for result in try await upstream.commit(Self.meddling(number)) { _ = try result.get() }
            var request = ReadRequest(.documents([]))
            request.holdDuration = .seconds(60)
            #expect(try await upstream.read(request).time != nil)
        }
        for result in try await upstream.commit(Self.meddling(9)) { _ = try result.get() }
        let answer = try await Self.served(upstream).send(.post, ":runQuery", Self.query())
        #expect(ids(answer) == (0..<Self.count).map(Self.id))
    }

    @Test("A slow client's response keeps its read time up to a limit", arguments: [false, true])
    func slowClient(isTooSlow: Bool) async throws {
        let clock = TestClock()
        let upstream = InMemoryStorageAdapter(clock: clock)
        let text = DocumentValue.string(String(repeating: "x", count: 20_000))
        for number in 0..<100 {
            let path = DocumentPath(CollectionPath("a"), Self.id(number))
            let write = DocumentWrite(path, .set(DocumentBody(["text": text])))
            for result in try await upstream.commit([WriteBatch([write])]) { _ = try result.get() }
        }
        let store = WatchedStore(upstream)
        let served = Served(store) {
            ($0.firstPageBytes, $0.pageBytes, $0.clock) = (500_000, 100_000, clock)
            if isTooSlow { $0.maximumHoldTime = .seconds(300) }
        }
        let reply = await served.server.respond(to: Self.call)
        var bytes: [UInt8] = []
        var failure: TransportError?
        var iterator = reply.body.makeAsyncIterator()
        do throws(TransportError) {
            while let piece = try await iterator.next() {
                bytes += piece
                await clock.advance(by: .seconds(45))
                for result in (try? await upstream.commit(Self.meddling(1))) ?? [] {
                    _ = try? result.get()
                }
            }
        } catch {
            failure = error
        }
        #expect((failure == nil) == !isTooSlow)
        #expect((failure?.cause as? StorageError)?.code == (isTooSlow ? .snapshotTooOld : nil))
        guard !isTooSlow else { return }
        let json = try FirestoreJSON(parsing: bytes)
        #expect(json.elements?.count { $0["document"]?["fields"]?["text"] != nil } == 100)
    }

    @Test("A failure after the beginning truncates the response, an earlier one returns a status")
    func failures() async throws {
        let upstream = try await Self.filled(history: nil, padding: 1_000)
        // The second read starts to hold the moment, before anything is sent.
        for failing in [1, 2, 3] {
            let store = WatchedStore(upstream) { number async throws(StorageError) in
                if number == failing { throw StorageError(.unavailable, "made to fail") }
            }
            let reply = await Self.served(store).server.respond(to: Self.call)
            #expect(reply.head.status.code == (failing < 3 ? 503 : 200))
            guard failing == 3 else { continue }
            await #expect(throws: TransportError.self) {
                try await reply.body.collect(upTo: 64 << 20)
            }
        }
    }

    @Test("A transaction reads everything at once for its commit")
    func transaction() async throws {
        let store = WatchedStore(try await Self.filled(history: nil))
        let served = Served(store)
        let token = try await served.begin()
        let query = Self.query().dropLast() + #","transaction":"\#(token)"}"#
        let answer = try await served.send(.post, ":runQuery", String(query))
        #expect(ids(answer).count == Self.count)
        #expect(store.reads.count == 1)
        try await served.set("a/01400", n: 0)
        let commit = try await served.commit("b/1", n: 1, in: token)
        #expect(commit.error == "ABORTED")
    }

    @Test("Without a history, up to 16 MiB are read at once and consistently")
    func firstMoment() async throws {
        let store = WatchedStore(try await Self.filled(history: nil, padding: 1_000))
        let names = (0..<Self.count).map { "\"\(Served.name("a/\(Self.id($0))"))\"" }
        for (place, body, part) in [
            (":runQuery", Self.query(), "document"),
            (":batchGet", #"{"documents":[\#(names.joined(separator: ","))]}"#, "found"),
        ] {
            let before = store.reads.count
            let answer = try await Served(store).send(.post, place, body)
            #expect(ids(answer, part) == (0..<Self.count).map(Self.id))
            #expect(store.reads.count == before + 1)
            #expect(store.reads.last?.maximumBytes == 16 << 20)
        }
    }

    @Test("Each read is limited in bytes regardless of document sizes")
    func sizes() async throws {
        let upstream = InMemoryStorageAdapter()
        let large = DocumentValue.string(String(repeating: "x", count: 200_000))
        let batches = (0..<600).map { number in
            let fields: DocumentFields = number < 500 ? ["n": 1] : ["n": 1, "text": large]
            let path = DocumentPath(CollectionPath("a"), Self.id(number))
            return WriteBatch([DocumentWrite(path, .set(DocumentBody(fields)))])
        }
        for result in try await upstream.commit(batches) { _ = try result.get() }
        let store = WatchedStore(upstream)
        let answer = try await Served(store).send(.post, ":runQuery", Self.query())
        #expect(ids(answer) == (0..<600).map(Self.id))
        #expect(store.mostFoundBytes < 17 << 20)
        #expect(store.reads.count > 1)
    }

    @Test("Transactional reads and queries limited from the end have a size limit")
    func atOnce() async throws {
        let store = try await Self.filled(history: nil, padding: 300)
        let served = Served(store) { $0.mostBytesAtOnce = 500_000 }
        let names = (0..<Self.count).map { "\"\(Served.name("a/\(Self.id($0))"))\"" }
        let all = #"{"documents":[\#(names.joined(separator: ","))],"newTransaction":{}}"#
        let order = #","orderBy":[{"field":{"fieldPath":"__name__"}}],"keel":{"limitsLast":true}"#
        let last = Self.query(order + #","limit":1400"#)
        let query = String(Self.query().dropLast() + #","newTransaction":{}}"#)
        for (place, body) in [(":batchGet", all), (":runQuery", last), (":runQuery", query)] {
            let answer = try await served.send(.post, place, body, extended: true)
            #expect(answer.reason == "tooLarge")
        }
        let few = Self.query(order + #","limit":5"#)
        let answer = try await served.send(.post, ":runQuery", few, extended: true)
        #expect(ids(answer) == (1_495..<1_500).map(Self.id))
    }

    @Test("batchGet reads in parts and returns missing documents last")
    func batch() async throws {
        let store = WatchedStore(try await Self.filled(history: nil, padding: 1_000))
        let numbers = Array(1_000..<1_800)
        let names = numbers.map { "\"\(Served.name("a/\(Self.id($0))"))\"" }
        let body = #"{"documents":[\#(names.joined(separator: ","))]}"#
        let answer = try await Self.served(store).send(.post, ":batchGet", body)
        #expect(ids(answer, "found") == (1_000..<1_500).map(Self.id))
        let missing = (answer.json.elements ?? []).compactMap { $0["missing"]?.text }
        #expect(missing == (1_500..<1_800).map { Served.name("a/\(Self.id($0))") })
        #expect(store.reads.count > 1)
        #expect(store.mostFoundBytes < 510_000)
    }

    @Test("A listing is read in parts, and its pages are contiguous")
    func listing() async throws {
        let store = WatchedStore(try await Self.filled(history: nil, padding: 1_000))
        let served = Self.served(store)
        var found: [String] = []
        var token = ""
        repeat {
            let answer = try await served.send(.get, "/a?pageSize=700&pageToken=\(token)")
            let documents = answer.json["documents"]?.elements ?? []
            found += documents.compactMap {
                $0["name"]?.text?.split(separator: "/").last.map(String.init)
            }
            token = answer.json["nextPageToken"]?.text ?? ""
        } while !token.isEmpty && found.count <= Self.count
        #expect(found == (0..<Self.count).map(Self.id))
        #expect(store.reads.count > 3)
    }

    @Test("A read ends when it takes too long or its client disconnects")
    func ended() async throws {
        for isTooLong in [true, false] {
            let (begun, beginning) = AsyncStream.makeStream(of: Void.self)
            let store = WatchedStore(InMemoryStorageAdapter()) { _ async throws(StorageError) in
                beginning.finish()
                let (never, keeper) = AsyncStream.makeStream(of: Void.self)
                for await _ in never {}
                keeper.finish()
                throw StorageError(.cancelled, "the read was cancelled")
            }
            let served = Served(store) { $0.readTimeout = .seconds(20) }
            let answer = Task { try await served.send(.post, ":runQuery", Self.query()) }
            for await _ in begun {}
            if isTooLong {
                await served.clock.advance(by: .seconds(20), onceAsleep: 1)
                #expect(try await answer.value.error == "DEADLINE_EXCEEDED")
            } else {
                answer.cancel()
                #expect(try await answer.value.error == "CANCELLED")
            }
        }
    }
}
