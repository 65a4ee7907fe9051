import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import KeelTestSupport
import Testing

@Suite("Iterating over the documents of a query")
struct DocumentSequenceTests {
    private static func fill(_ storage: StorageClient, _ count: Int, bytes: Int = 10) async throws {
        let text = String(repeating: "x", count: bytes)
        for start in stride(from: 0, to: count, by: 500) {
            try await storage.commit { batch in
                for number in start..<min(start + 500, count) {
                    try batch.set(
                        "a/\(id(number))",
                        ["n": .integer(Int64(count - number)), "text": .string(text), "m": 1]
                    )
                }
            }
        }
    }

    private static func id(_ number: Int) -> String {
        let digits = String(number)
        return String(repeating: "0", count: 6 - digits.count) + digits
    }

    private static func ids(_ documents: DocumentSequence) async throws -> [String] {
        var ids: [String] = []
        for try await document in documents { ids.append(document.path.id) }
        return ids
    }

    /// A store that counts bytes, one that does not, and one that can neither read the past nor hold a state.
    enum Store: CaseIterable {
        case memory, withHistory, plain

        func adapter() -> StandInAdapter {
            switch self {
            case .memory: StandInAdapter(InMemoryStorageAdapter())
            case .withHistory: StandInAdapter(InMemoryStorageAdapter(history: .seconds(3_600)))
            case .plain: StandInAdapter(InMemoryStorageAdapter(), [.transactions])
            }
        }
    }

    @Test(
        "The documents respect the order, offset, limits and fields of the query",
        arguments: Store.allCases
    )
    func agrees(_ store: Store) async throws {
        let storage = StorageClient(store.adapter())
        try await Self.fill(storage, 2_500)
        let all = DocumentQuery("a")
        for query in [
            all, all.order(by: "n"), all.order(by: "m", .descending), all.limit(to: 1_234),
            all.offset(300).limit(to: 700), all.order(by: "n").limit(toLast: 150),
            all.where(.greater("n", 2_000)), all.where(.equal("n", -1)),
            all.order(by: "n").select("text"),
        ] {
            let expected = try await storage.queryDocuments(query)
            var found: [Document] = []
            for try await document in storage.documents(matching: query) { found.append(document) }
            #expect(found == expected, "\(query)")
        }
    }

    @Test(
        "The documents have one read time if the store can hold it",
        arguments: [Store.memory, .withHistory]
    )
    func oneMoment(_ store: Store) async throws {
        let storage = StorageClient(store.adapter())
        try await Self.fill(storage, 1_000)
        var count = 0
        for try await _ in storage.documents(matching: DocumentQuery("a")) {
            if count.isMultiple(of: 100) {
                try await storage.deleteDocument("a/\(Self.id(999 - count / 100))")
                try await storage.setDocument("a/\(Self.id(count))x", [:])
            }
            count += 1
        }
        #expect(count == 1_000)
    }

    @Test("The documents of a plain store have several read times and appear once")
    func severalMoments() async throws {
        let storage = StorageClient(Store.plain.adapter())
        try await Self.fill(storage, 1_000)
        var ids: [String] = []
        for try await document in storage.documents(matching: DocumentQuery("a")) {
            if ids.isEmpty { try await storage.deleteDocument("a/\(Self.id(999))") }
            ids.append(document.path.id)
        }
        #expect(ids == (0..<999).map(Self.id))
    }

    @Test("The documents are read in results of about a megabyte")
    func bounded() async throws {
        var largest: [Int] = []
        for count in [2_000, 8_000] {
            let adapter = Store.memory.adapter()
            let storage = StorageClient(adapter, schema: StorageSchema())
            try await Self.fill(storage, count, bytes: 1_000)
            #expect(
                try await Self.ids(storage.documents(matching: DocumentQuery("a"))).count == count
            )
            largest.append(adapter.foundBytes.max() ?? 0)
        }
        #expect(largest[0] > 500_000)
        #expect(largest[1] < 2 << 20 && largest[1] < largest[0] * 2)
    }

    @Test("Leaving the loop releases the held state")
    func letsGo() async throws {
        let (letGo, letting) = AsyncStream.makeStream(of: Void.self)
        let adapter = StandInAdapter(InMemoryStorageAdapter()) { call in
            if case .read(let request) = call, request.holdDuration == .zero { letting.finish() }
        }
        let storage = StorageClient(adapter)
        try await Self.fill(storage, 500)
        for try await document in storage.documents(matching: DocumentQuery("a")) {
            if document.path.id == Self.id(150) { break }
        }
        for await _ in letGo {}
        #expect(adapter.reads.contains { $0.holdDuration == .seconds(60) })
        // At its end, the iteration releases the state before it returns the last document.
        let before = adapter.reads.count
        _ = try await Self.ids(storage.documents(matching: DocumentQuery("a")))
        #expect(adapter.reads.dropFirst(before).filter { $0.holdDuration == .zero }.count == 1)
    }

    @Test("A slow loop keeps the state held")
    func renews() async throws {
        let clock = TestClock()
        var configuration = StorageClient.Configuration()
        configuration.clock = clock
        let storage = StorageClient(
            InMemoryStorageAdapter(clock: clock),
            configuration: configuration
        )
        try await Self.fill(storage, 300)
        var count = 0
        for try await _ in storage.documents(matching: DocumentQuery("a")) {
            if count.isMultiple(of: 50) {
                await clock.advance(by: .seconds(30))
                try await storage.deleteDocument("a/\(Self.id(299))")
            }
            count += 1
        }
        #expect(count == 300)
        await expectError(StorageError.self, .snapshotTooOld) {
            for try await _ in storage.documents(matching: DocumentQuery("a")) {
                await clock.advance(by: .seconds(120))
            }
        }
    }

    @Test("Results that are too large are read in smaller parts")
    func halves() async throws {
        let adapter = StandInAdapter(InMemoryStorageAdapter()) { call throws(StorageError) in
            guard case .read(let request) = call, case .query(let query) = request.operation,
                case .first(let count) = query.limit, count > 30
            else { return }
            throw StorageError(.tooLarge, "the reply has more than 64 MiB")
        }
        let storage = StorageClient(adapter)
        try await Self.fill(storage, 200)
        let ids = try await Self.ids(storage.documents(matching: DocumentQuery("a")))
        #expect(ids == (0..<200).map(Self.id))
    }

    /// Returns the errors of an iteration over unreadable documents, up to its end.
    private func errors(of adapter: some StorageAdapter) async -> [StorageError.Code] {
        let storage = StorageClient(adapter)
        var documents = storage.documents(matching: DocumentQuery("a")).makeAsyncIterator()
        var codes: [StorageError.Code] = []
        while true {
            do throws(StorageError) {
                guard try await documents.next() != nil else { return codes }
            } catch {
                codes.append(error.code)
            }
        }
    }

    @Test("A page with too many unreadable documents ends the iteration with an error")
    func unreadable() async {
        let codes = await errors(of: DamagedAdapter(count: .max, countsThem: true))
        #expect(codes.last == .tooLarge)
        #expect(codes.dropLast().count > 1_000)
        #expect(codes.dropLast().allSatisfy { $0 == .corrupted })
    }

    @Test(
        "Unreadable documents before some that are too large end the iteration",
        .timeLimit(.minutes(1))
    )
    func unreadableBeforeLarge() async {
        let damaged = DamagedAdapter(count: .max, countsThem: true)
        let adapter = StandInAdapter(damaged) { call throws(StorageError) in
            guard case .read(let request) = call, case .query(let query) = request.operation,
                case .first(let count) = query.limit, count > 30
            else { return }
            throw StorageError(.tooLarge, "the reply has more than 64 MiB")
        }
        let codes = await errors(of: adapter)
        #expect(codes.last == .tooLarge)
        #expect(codes.dropLast().allSatisfy { $0 == .corrupted })
    }

    @Test(
        "A result of unreadable documents alone ends without a further error",
        arguments: [(99, true), (900, true), (1_500, true), (900, false), (5_000, false)]
    )
    func unreadableAlone(count: Int, countsThem: Bool) async {
        let codes = await errors(of: DamagedAdapter(count: count, countsThem: countsThem))
        #expect(codes == Array(repeating: StorageError.Code.corrupted, count: count))
    }

    @Test("Cancellation ends the loop with an error")
    func cancelled() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        try await Self.fill(storage, 300)
        let task = Task {
            var count = 0
            for try await _ in storage.documents(matching: DocumentQuery("a")) {
                count += 1
                if count == 50 { withUnsafeCurrentTask { $0?.cancel() } }
            }
        }
        await expectError(StorageError.self, .cancelled) { try await task.value }
    }

    @Test("An invalid query ends the loop with its error")
    func checks() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let error = await expectError(StorageError.self, .invalidArgument) {
            _ = try await Self.ids(storage.documents(matching: DocumentQuery("a").limit(to: -1)))
        }
        #expect(error?.operation == "documents")
    }
}

/// A store with a collection of unreadable documents.
private struct DamagedAdapter: ForwardingStorageAdapter {
    let upstream: any StorageAdapter = InMemoryStorageAdapter()
    let capabilities: StorageCapabilities = []
    let count: Int
    /// Whether the unreadable documents count toward a limit.
    let countsThem: Bool

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var result = try await upstream.read(request)
        if case .query(let query) = request.operation, case .first(let limit) = query.limit {
            result.unreadable = (0..<(countsThem ? min(count, limit) : count)).map {
                UnreadableDocument("a/\($0)", StorageError(.corrupted, "its bytes are damaged"))
            }
        }
        return result
    }
}
