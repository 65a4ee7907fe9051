import KeelStorage
import KeelStorageAdapting
import KeelTestKit
import Synchronization
import Testing

/// A process that mirrors a store and dies at each of its calls.
@Suite("Mirrors after a crash", .timeLimit(.minutes(5)))
struct MirrorCrashTests {
    /// Which of the two stores is like Google's Firestore, without a change log and reserved names.
    enum Stores: CaseIterable, CustomTestStringConvertible {
        case bothOfKeel, primaryOfGoogle, mirrorOfGoogle

        var testDescription: String { "\(self)" }

        var made: (primary: any StorageAdapter, mirror: any StorageAdapter) {
            let (one, other) = (InMemoryStorageAdapter(), InMemoryStorageAdapter())
            switch self {
            case .bothOfKeel: return (one, other)
            case .primaryOfGoogle: return (PlainStore(store: one), other)
            case .mirrorOfGoogle: return (one, PlainStore(store: other))
            }
        }
    }

    private static let steps: [[DocumentWrite]] = [
        [write("1", 1)], [write("2", 1)], [write("1", 2), write("3", 1)],
        [DocumentWrite("notes/2", .delete)], [write("2", 3)],
        [write("4", 1), write("5", 1), DocumentWrite("notes/1", .delete)], [write("3", 2)],
    ]

    private static func write(_ id: String, _ number: Int64) -> DocumentWrite {
        DocumentWrite(DocumentPath("notes", id), .set(DocumentBody(["n": .integer(number)])))
    }

    /// Runs the steps from `first` on until the process is dead.
    ///
    /// - Returns: The number of completed steps.
    private func live(
        _ stores: (primary: any StorageAdapter, mirror: any StorageAdapter),
        from first: Int,
        _ life: Life
    ) async -> Int {
        func live(_ primary: some StorageAdapter, _ mirror: some StorageAdapter) async -> Int {
            let adapter = MortalStore(upstream: primary, life: life)
                .mirrored(to: MortalStore(upstream: mirror, life: life)) { _ in }
            var done = first
            for step in Self.steps.dropFirst(first) where !life.isOver {
                _ = try? await adapter.commit([WriteBatch(step)])
                if !life.isOver { done += 1 }
            }
            return done
        }
        return await live(stores.primary, stores.mirror)
    }

    /// Returns a store's contents without reserved names.
    private func contents(_ store: some StorageAdapter) async throws -> [String: DocumentBody] {
        let query = try QueryValidation.checked(DocumentQuery("notes"))
        guard case .found(let documents) = try await store.read(ReadRequest(.query(query))).payload
        else { return [:] }
        return Dictionary(uniqueKeysWithValues: documents.map { ($0.id, $0.body) })
    }

    /// Starts a process that only reads, and expects a complete mirror afterward.
    private func expectWhole(
        _ stores: (primary: any StorageAdapter, mirror: any StorageAdapter),
        _ what: Comment
    ) async throws {
        let events = Mutex<[String]>([])
        func read(_ primary: some StorageAdapter, _ mirror: some StorageAdapter) async throws {
            let adapter = primary.mirrored(to: mirror) { event in
                events.withLock { $0.append(event.description) }
            }
            _ = try await contents(adapter)
            #expect(adapter.waitingCount == 0, what)
        }
        try await read(stores.primary, stores.mirror)
        #expect(events.withLock { $0 } == [], what)
        let expected = try await contents(stores.primary)
        #expect(try await contents(stores.mirror) == expected, what)
    }

    @Test("A mirror gets all commits made before a crash at any call", arguments: Stores.allCases)
    func survives(_ kind: Stores) async throws {
        for isLastDone in [true, false] {
            var most = 0
            while true {
                let stores = kind.made
                let life = Life(calls: most, isLastDone: isLastDone)
                _ = await live(stores, from: 0, life)
                try await expectWhole(stores, "after \(most) calls, \(isLastDone)")
                if !life.isOver { break }
                most += 1
            }
            // Seven steps make more calls than that.
            #expect(most > 20)
        }
    }

    @Test("A mirror gets all commits even after a second crash", arguments: Stores.allCases)
    func survivesTwice(_ kind: Stores) async throws {
        for first in 0..<24 {
            for second in 0..<12 {
                let stores = kind.made
                let isLastDone = (first + second).isMultiple(of: 2)
                let done = await live(stores, from: 0, Life(calls: first, isLastDone: isLastDone))
                _ = await live(stores, from: done, Life(calls: second, isLastDone: !isLastDone))
                try await expectWhole(stores, "after \(first) and \(second) calls")
            }
        }
    }

    @Test("A mirror that misses trimmed changes reports it and continues")
    func isBehind() async throws {
        let primary = InMemoryStorageAdapter(changeLogCapacity: 1)
        let mirror = InMemoryStorageAdapter()
        let life = Life(calls: 6, isLastDone: true)
        _ = await live((primary, mirror), from: 0, life)
        #expect(life.isOver)
        // These writes are not mirrored, and the log drops them.
        for number in Int64(0)..<20 {
            _ = try await primary.commit([WriteBatch([Self.write("9", number)])])
        }
        let events = Mutex<[String]>([])
        let adapter = primary.mirrored(to: mirror) { event in
            events.withLock { $0.append(event.description) }
        }
        _ = try await adapter.commit([WriteBatch([Self.write("new", 1)])])
        let told = events.withLock { $0 }
        #expect(told.count == 1 && told[0].hasPrefix("the mirror may lack changes"), "\(told)")
        #expect(try await contents(mirror)["new"] != nil)
        _ = try await adapter.commit([WriteBatch([Self.write("next", 1)])])
        #expect(try await contents(mirror)["next"] != nil)
        #expect(events.withLock { $0.count } == 1)
    }

    @Test("Records of Keel are not copied to a mirror that refuses their names")
    func leavesOwnRecords() async throws {
        let (primary, mirror) = Stores.mirrorOfGoogle.made
        let record = DocumentWrite("__outcomes__/1", .set(DocumentBody(["outcome": "accepted"])))
        try await expectCopies(of: [record, Self.write("1", 1)], from: primary, to: mirror)
        try await expectCopies(of: [Self.write("2", 1)], from: primary, to: mirror)
    }

    private func expectCopies(
        of writes: [DocumentWrite],
        from primary: some StorageAdapter,
        to mirror: some StorageAdapter
    ) async throws {
        let events = Mutex<[String]>([])
        let adapter = primary.mirrored(to: mirror) { event in
            events.withLock { $0.append(event.description) }
        }
        for result in try await adapter.commit([WriteBatch(writes)]) { _ = try result.get() }
        #expect(events.withLock { $0 } == [])
        #expect(adapter.waitingCount == 0)
        let expected = try await contents(primary)
        #expect(try await contents(mirror) == expected)
    }

    @Test("A mirror whose state cannot be stored reports it once")
    func keepsNothing() async throws {
        let events = Mutex<[String]>([])
        let adapter = PlainStore(store: InMemoryStorageAdapter())
            .mirrored(to: PlainStore(store: InMemoryStorageAdapter())) { event in
                events.withLock { $0.append(event.description) }
            }
        for number in Int64(0)..<3 {
            _ = try await adapter.commit([WriteBatch([Self.write("1", number)])])
        }
        let told = events.withLock { $0 }
        #expect(told.count == 1 && told[0].contains("could not be written"), "\(told)")
    }
}

/// The number of calls that a process makes before it dies.
private final class Life: Sendable {
    private let left: Mutex<Int>
    /// Whether the last call takes effect; its reply is lost in either case.
    let isLastDone: Bool

    init(calls: Int, isLastDone: Bool) {
        left = Mutex(calls)
        self.isLastDone = isLastDone
    }

    var isOver: Bool { left.withLock { $0 < 0 } }

    /// Counts a call, and returns whether it takes effect, and whether it is answered.
    func take() -> (isDone: Bool, isAnswered: Bool) {
        left.withLock { left in
            left -= 1
            return (left >= 0 || left == -1 && isLastDone, left >= 0)
        }
    }
}

/// A store as used by a process that dies.
private struct MortalStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let life: Life

    private func during<Value>(
        _ call: () async throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        let (isDone, isAnswered) = life.take()
        guard isDone else { throw StorageError(.unavailable, "the process is dead") }
        let value = try await call()
        guard isAnswered else { throw StorageError(.unavailable, "the process is dead") }
        return value
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try await during { () async throws(StorageError) in try await upstream.read(request) }
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        try await during { () async throws(StorageError) in try await upstream.commit(batches) }
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await during { () async throws(StorageError) in try await upstream.changes(request) }
    }
}

/// A store with the capabilities of Google's Firestore over REST: no change log, and no reserved names.
private struct PlainStore: StorageAdapter {
    let store: InMemoryStorageAdapter

    var capabilities: StorageCapabilities { [.transactions, .aggregation, .collectionListing] }

    private func check(_ path: DocumentPath) throws(StorageError) {
        guard path.string.hasPrefix("__") else { return }
        throw StorageError(.invalidArgument, "the name is reserved")
    }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {}

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        if case .documents(let paths) = request.operation { for path in paths { try check(path) } }
        return try await store.read(request)
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        for write in batches.flatMap(\.writes) { try check(write.path) }
        return try await store.commit(batches)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        throw StorageError(.unsupported, "there is no change log")
    }
}
