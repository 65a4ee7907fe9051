import Foundation
import KeelCore
import KeelRepositories
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// A resource whose source and cached copy a test controls.
private final class Subject: Sendable {
    let source = Mutex<Result<String, DataSourceError>>(.success("remote"))
    let copy = Mutex<String?>(nil)
    let fetches = Counter()
    let gate = Mutex<Gate?>(nil)

    /// Lives as long as the resource that holds it.
    final class Token: Sendable {}

    var resource: Resource<String> { resource(holding: Token()) }

    func resource(holding token: Token) -> Resource<String> {
        Resource("text", tags: ["texts"]) {
            defer { withExtendedLifetime(token) {} }
            self.fetches.next()
            // The answer is decided when the source is asked, and may arrive much later.
            let answer = self.source.withLock { $0 }
            if let gate = self.gate.withLock({ $0 }) { _ = try? await gate.pass() }
            if Task.isCancelled { throw DataSourceError(.cancelled) }
            return try answer.get()
        } read: {
            self.copy.withLock { $0 }
        } store: { value in
            self.copy.withLock { $0 = value }
        } remove: {
            self.copy.withLock { $0 = nil }
        }
    }

    func fail(_ code: DataSourceError.Code) {
        source.withLock { $0 = .failure(DataSourceError(code, source: .remote)) }
    }
    func say(_ text: String) { source.withLock { $0 = .success(text) } }
}

@Suite("Loading resources", .timeLimit(.minutes(1)))
struct ResourceLoaderTests {
    private let subject = Subject()
    private let wall = WallClock()
    private let loader: ResourceLoader

    init() {
        let wall = wall
        loader = ResourceLoader(now: { wall.now })
    }

    private func load(_ policy: FetchPolicy) async throws(RepositoryError) -> Fetched<String> {
        try await loader.load(subject.resource, policy)
    }

    // MARK: Policies

    @Test("cacheOnly never asks the source")
    func cacheOnly() async throws {
        await expectError(RepositoryError.self, .notCached) { try await load(.cacheOnly) }
        subject.copy.withLock { $0 = "kept" }
        #expect(try await load(.cacheOnly).value == "kept")
        #expect(subject.fetches.count == 0)
    }

    @Test("cacheFirst asks without a cached value, when it is too old, and after an invalidation")
    func cacheFirst() async throws {
        let policy = FetchPolicy.cacheFirst(maxAge: .seconds(60))
        #expect(try await load(policy) == Fetched("remote", .current))
        wall.advance(by: 60)
        #expect(try await load(policy) == Fetched("remote", .cached(age: .seconds(60))))
        wall.advance(by: 1)
        #expect(try await load(policy).freshness == .current)
        #expect(subject.fetches.count == 2)
        try await loader.invalidate(["texts"])
        #expect(try await load(policy).freshness == .current)
        try await loader.invalidate(["other"])
        #expect(try await load(policy).freshness == .cached(age: .zero))
        // A clock that was set back gives no age.
        wall.advance(by: -10)
        #expect(try await load(policy).freshness == .current)
        #expect(subject.fetches.count == 4)
    }

    @Test("A cached value is returned only if the source does not respond")
    func fallsBack() async throws {
        _ = try await load(.networkOnly)
        wall.advance(by: 100)
        for policy in [FetchPolicy.cacheFirst(maxAge: .seconds(1)), .networkFirst] {
            for code in [DataSourceError.Code.unreachable, .timeout, .unavailable, .throttled] {
                subject.fail(code)
                let fetched = try await load(policy)
                #expect(fetched == Fetched("remote", .stale(age: .seconds(100))))
            }
            subject.fail(.unauthenticated)
            await expectError(RepositoryError.self, .signInRequired) { try await load(policy) }
        }
        subject.fail(.unreachable)
        await #expect(throws: RepositoryError.self) { try await load(.networkOnly) }
    }

    @Test("networkFirst and networkOnly cache what they load")
    func keeps() async throws {
        for policy in [FetchPolicy.networkFirst, .networkOnly] {
            subject.say("\(policy)")
            #expect(try await load(policy) == Fetched("\(policy)", .current))
            #expect(subject.copy.withLock { $0 } == "\(policy)")
        }
    }

    @Test("A value that the source no longer has is removed from the cache")
    func forgets() async throws {
        _ = try await load(.networkOnly)
        subject.fail(.notFound)
        await expectError(RepositoryError.self, .notFound) { try await load(.networkFirst) }
        #expect(subject.copy.withLock { $0 } == nil)
    }

    @Test("cacheThenNetwork returns the cached value and refreshes it in the background")
    func refreshes() async throws {
        subject.copy.withLock { $0 = "old" }
        #expect(try await load(.cacheThenNetwork) == Fetched("old", .stale(age: nil)))
        // The value is cached slightly before its time is recorded.
        try await waitUntil { try await load(.cacheOnly).freshness == .cached(age: .zero) }
        #expect(try await load(.cacheOnly) == Fetched("remote", .cached(age: .zero)))
    }

    @Test("A background refresh ends with the last copy of the loader")
    func cancelsRefreshes() async throws {
        let gate = Gate()
        subject.copy.withLock { $0 = "old" }
        subject.gate.withLock { $0 = gate }
        weak var refresh: Subject.Token?
        do {
            let token = Subject.Token()
            refresh = token
            let loader = ResourceLoader()
            _ = try await loader.load(subject.resource(holding: token), .cacheThenNetwork)
            try await waitUntil { subject.fetches.count != 0 }
            withExtendedLifetime(loader) {}
        }
        // Not before the refresh has noticed its cancellation: otherwise it would have its answer.
        try await waitUntil { gate.cancelledCount != 0 }
        gate.open()
        // It holds the resource until it has ended.
        try await waitUntil { refresh == nil }
        #expect(subject.copy.withLock { $0 } == "old")
    }

    // MARK: Sharing and racing

    @Test("A thousand concurrent callers ask the source once")
    func sharesFetches() async throws {
        let gate = Gate()
        subject.gate.withLock { $0 = gate }
        try await withThrowingTaskGroup(of: String.self) { group in
            for _ in 0..<1_000 { group.addTask { try await load(.networkOnly).value } }
            try await waitUntil { loader.waiterCount >= 1_000 }
            gate.open()
            for try await value in group { #expect(value == "remote") }
        }
        #expect(subject.fetches.count == 1)
    }

    /// Loads a value that the service answers before a change, and whose answer arrives after it.
    private func load(answeredBefore change: () async throws -> Void) async throws -> String {
        let gate = Gate()
        subject.gate.withLock { $0 = gate }
        subject.say("before")
        async let early = load(.networkOnly)
        // At the gate, the answer is already decided.
        try await waitUntil { gate.begunCount != 0 }
        subject.say("after")
        subject.gate.withLock { $0 = nil }
        try await change()
        gate.open()
        return try await early.value
    }

    @Test("A response in progress during a write is neither cached nor shared")
    func ignoresOldAnswers() async throws {
        let subject = subject
        let early = try await load(answeredBefore: {
            try await loader.write(invalidating: ["texts"]) {
                subject.copy.withLock { $0 = "after" }
            }
            #expect(try await load(.networkOnly).value == "after")
        })
        // It was asked again, because its answer was older than the write.
        #expect(early == "after")
        #expect(subject.copy.withLock { $0 } == "after")
        #expect(try await load(.cacheFirst()).freshness == .cached(age: .zero))
    }

    @Test("A response in progress during a write that fails is not cached either")
    func ignoresOldAnswersAfterFailure() async throws {
        let subject = subject
        let early = try await load(answeredBefore: {
            // The service has the change, and the device may have some of it.
            await #expect(throws: RepositoryError.self) {
                try await loader.write(invalidating: ["texts"]) {
                    subject.copy.withLock { $0 = "half" }
                    throw DataSourceError(.storageFull)
                }
            }
        })
        #expect(early == "after")
        #expect(subject.copy.withLock { $0 } == "after")
    }

    @Test("A response that is being kept during an invalidation does not count as current")
    func invalidatesWhileKeeping() async throws {
        let gate = Gate()
        let fetches = Counter()
        let copy = Mutex<String?>(nil)
        let resource = Resource<String>("text", tags: ["texts"]) {
            "answer \(fetches.next())"
        } read: {
            copy.withLock { $0 }
        } store: { value in
            _ = try? await gate.pass()
            copy.withLock { $0 = value }
        }
        async let early = loader.load(resource, .networkOnly)
        try await waitUntil { gate.begunCount == 1 }
        try await loader.invalidate(["texts"])
        gate.open()
        #expect(try await early.value == "answer 2")
        #expect(try await loader.load(resource, .cacheFirst()).value == "answer 2")
        #expect(fetches.count == 2)
    }

    @Test("Canceling a load during an invalidation leaves its response no longer current")
    func invalidatesCanceledLoads() async throws {
        let gate = Gate()
        let ledger = CancelableLedger(gate: gate)
        let loader = ResourceLoader(ledger: ledger)
        let fetches = Counter()
        let copy = Mutex<String?>(nil)
        let resource = Resource<String>("text", tags: ["texts"]) {
            try Task.checkCancellation()
            return "answer \(fetches.next())"
        } read: {
            copy.withLock { $0 }
        } store: { value in
            copy.withLock { $0 = value }
        }
        let early = Task { try await loader.load(resource, .networkOnly) }
        try await waitUntil { gate.begunCount == 1 }
        try await loader.invalidate(["texts"])
        early.cancel()
        await #expect(throws: RepositoryError.self) { try await early.value }
        try await waitUntil { ledger.invalidations.count == 2 }
        gate.open()
        #expect(try await loader.load(resource, .cacheFirst()).value == "answer 2")
    }

    @Test("A change that is canceled when it has taken effect invalidates, and returns its result")
    func invalidatesAfterCanceledWrites() async throws {
        let loader = ResourceLoader(ledger: CancelableLedger())
        _ = try await loader.load(subject.resource, .networkOnly)
        let writing = Task {
            try await loader.write(invalidating: ["texts"]) {
                withUnsafeCurrentTask { $0?.cancel() }
                return "written"
            }
        }
        #expect(try await writing.value == "written")
        let kept = try await loader.load(subject.resource, .cacheOnly)
        #expect(kept.freshness == .stale(age: nil))
    }

    @Test("The response to a canceled load does not replace that of a later one")
    func ignoresCanceledLoads() async throws {
        let subject = subject
        let (gate, fetches, checks) = (Gate(), Counter(), Counter())
        let loader = ResourceLoader(
            identity: {
                checks.next()
                return "alice"
            }
        )
        let resource = Resource<String>("text") {
            guard fetches.next() == 1 else { return "later" }
            // The cancellation does not reach the exchange.
            _ = try await Task { try await gate.pass() }.value
            return "earlier"
        } read: {
            subject.copy.withLock { $0 }
        } store: { value in
            subject.copy.withLock { $0 = value }
        }
        let early = Task { try await loader.load(resource, .networkOnly) }
        try await waitUntil { gate.begunCount == 1 }
        early.cancel()
        await expectError(RepositoryError.self, .cancelled) { try await early.value }
        #expect(try await loader.load(resource, .networkOnly).value == "later")
        #expect(checks.count == 3)
        gate.open()
        // The canceled load checks the user in a turn, for whose end the write waits.
        try await waitUntil { checks.count == 4 }
        try await loader.write(invalidating: []) {}
        #expect(subject.copy.withLock { $0 } == "later")
    }

    @Test("A ledger in a store outlives the loader, and entries can be invalidated by tag")
    func remembers() async throws {
        var settings = StorageClient.Configuration()
        // The ledger declares the index that it needs.
        settings.isStrict = true
        let storage = StorageClient(InMemoryStorageAdapter(), configuration: settings)
        let wall = wall
        for _ in 0..<2 {
            let loader = ResourceLoader(ledger: CollectionFetchLedger(storage), now: { wall.now })
            _ = try await loader.load(subject.resource, .cacheFirst())
        }
        #expect(subject.fetches.count == 1)
        let loader = ResourceLoader(ledger: CollectionFetchLedger(storage), now: { wall.now })
        try await loader.invalidate(Set((0..<40).map { "tag \($0)" } + ["texts"]))
        _ = try await loader.load(subject.resource, .cacheFirst())
        #expect(subject.fetches.count == 2)
        let ledger = CollectionFetchLedger(storage)
        try await ledger.record("a/b c?é", at: wall.now, tags: [])
        #expect(try await ledger.time(of: "a/b c?é") == wall.now)
        #expect(try await ledger.time(of: "a/b c") == nil)
    }

    @Test("A ledger in a store takes keys and tags of any length")
    func takesLongKeys() async throws {
        let ledger = CollectionFetchLedger(StorageClient(InMemoryStorageAdapter()))
        let keys = [300, 3_000].map { String(repeating: "é", count: $0) }
        for key in keys { try await ledger.record(key, at: wall.now, tags: [key]) }
        for key in keys {
            #expect(try await ledger.time(of: key) == wall.now)
            try await ledger.invalidate([key])
            #expect(try await ledger.time(of: key) == nil)
        }
    }

    // MARK: Watching

    @Test("An observer sees the cached value, then the source's, then each change")
    func watches() async throws {
        subject.copy.withLock { $0 = "kept" }
        var states = loader.observe(subject.resource).makeAsyncIterator()
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next() == .loaded("kept", .stale(age: nil)))
        #expect(await states.next() == .loaded("remote", .current))
        subject.fail(.unreachable)
        let subject = subject
        try await loader.write(invalidating: ["texts"]) { subject.copy.withLock { $0 = "mine" } }
        #expect(await states.next() == .loading(last: "remote"))
        #expect(await states.next() == .loaded("mine", .stale(age: nil)))
        #expect(await states.next() == .failed(RepositoryError(.unreachable), last: "mine"))
    }

    @Test("An observer with cacheFirst sees a single value while it is fresh")
    func watchesCacheFirst() async throws {
        _ = try await load(.networkOnly)
        let policy = FetchPolicy.cacheFirst(maxAge: .seconds(60))
        var states = loader.observe(subject.resource, policy).makeAsyncIterator()
        #expect(await states.next() == .loading(last: nil))
        #expect(await states.next() == .loaded("remote", .cached(age: .zero)))
        #expect(subject.fetches.count == 1)
        wall.advance(by: 100)
        subject.fail(.unreachable)
        var old = loader.observe(subject.resource, policy).makeAsyncIterator()
        _ = await old.next()
        #expect(await old.next() == .loaded("remote", .stale(age: .seconds(100))))
    }

    @Test("Observing ends with its task")
    func endsWatching() async throws {
        let states = loader.observe(subject.resource)
        let seen = Counter()
        let task = Task { for await _ in states { seen.next() } }
        // Loading and loaded; no other states follow.
        try await waitUntil { seen.count == 2 }
        task.cancel()
        await task.value
        #expect(seen.count == 2)
    }
}

/// A ledger that, like a store, refuses to invalidate in a canceled task, and that records behind a gate if it has one.
final class CancelableLedger: FetchLedger {
    let invalidations = Counter()
    private let base = InMemoryFetchLedger()
    private let gate: Gate?

    init(gate: Gate? = nil) { self.gate = gate }

    func time(of key: String) async throws(DataSourceError) -> Date? {
        try await base.time(of: key)
    }

    func record(_ key: String, at time: Date, tags: Set<String>) async throws(DataSourceError) {
        _ = try? await gate?.pass()
        try await base.record(key, at: time, tags: tags)
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        defer { invalidations.next() }
        guard !Task.isCancelled else { throw DataSourceError(.cancelled) }
        try await base.invalidate(tags)
    }
}
