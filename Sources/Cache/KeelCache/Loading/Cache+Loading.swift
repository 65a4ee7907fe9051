internal import KeelCore
internal import Synchronization

extension Cache {
    /// Returns the value for a key, loading it if the policy requires it.
    ///
    /// Concurrent callers for a key share one load, with the `load`, `expiry` and `tags` of the first. A canceled
    /// caller throws `CancellationError` at once; the load continues for the others and is canceled with the last one.
    /// If the key is set or removed during the load, or one of the tags is removed, the loaded value is returned to the
    /// waiting callers but not stored, and later calls start a new load.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - policy: The source of the value; nil for the configured policy.
    ///   - expiry: The time for which a loaded value is fresh; nil for the configured expiry.
    ///   - tags: The tags of a loaded value; ``removeAll(tagged:)`` removes all values with a tag.
    ///   - load: Loads the value; runs in its own task.
    /// - Returns: The value.
    /// - Throws: The error of `load`; `CancellationError`; or ``CacheError`` with the code `timeout` at the policy's
    ///   hard timeout, or `notCached` if the policy forbids loading.
    @inlinable
    public func value(
        for key: Key,
        policy: CachePolicy? = nil,
        expiry: CacheExpiry? = nil,
        tags: [String] = [],
        load: @escaping @Sendable () async throws -> Value
    ) async throws -> Value {
        let policy = policy ?? configuration.policy
        let looksFirst = policy.looksFirst
        if looksFirst {
            let value = policy.revalidates ? peekWhileRevalidating(key) : peek(key)
            if let value { return value }
        }
        let value = try await fetch(key, policy, isNoted: looksFirst, acceptsAbsence: false) {
            CacheLoaded(try await load(), expiry: expiry, tags: tags)
        }
        guard let value else { throw CacheError.notCached }
        return value
    }

    /// Returns the value for a key, or nil if it has none, loading it if the policy requires it.
    ///
    /// Absence is cached for ``CacheConfiguration/absenceExpiry`` or for the expiry of the loaded value. Otherwise,
    /// this method works like ``value(for:policy:expiry:tags:load:)``.
    ///
    /// - Parameters:
    ///   - key: The key of the value.
    ///   - policy: The source of the value; nil for the configured policy.
    ///   - load: Loads the value, with its expiry and tags.
    /// - Returns: The value; also nil if the policy forbids loading it.
    /// - Throws: The error of `load`, `CancellationError`, or ``CacheError`` with the code `timeout`.
    public func findValue(
        for key: Key,
        policy: CachePolicy? = nil,
        load: @escaping @Sendable () async throws -> CacheLoaded<Value>
    ) async throws -> Value? {
        let policy = policy ?? configuration.policy
        return try await fetch(key, policy, isNoted: false, acceptsAbsence: true, load)
    }

    // MARK: Deciding

    @usableFromInline
    func fetch(
        _ key: Key,
        _ policy: CachePolicy,
        isNoted: Bool,
        acceptsAbsence: Bool,
        _ load: @escaping @Sendable () async throws -> CacheLoaded<Value>
    ) async throws -> Value? {
        let call = LoadCall(key: key, policy: policy, acceptsAbsence: acceptsAbsence, load: load)
        var held = isNoted || policy.source == .load ? glance(key) : use(key)
        if let answer = answer(held, call) { return answer.value }
        // Before the tier is read: what is removed meanwhile must not be stored again for this call.
        let id = begin(key)
        defer { memory.end(key) }
        if held == nil, policy.source != .load || policy.servesStaleOnError,
            let found = await promote(id, isCounted: policy.source != .load)
        {
            held = usable(found)
            if let answer = answer(held, call, id) { return answer.value }
        }
        if policy.source == .cacheOnly { return nil }
        if policy.source == .cache, policy.revalidates, let value = held?.entry.value {
            ledger.count { $0.staleHits += 1 }
            loadBehind(call, id, held?.entry.detail)
            return value
        }
        return try await loadAndWait(call, id, standIn: held?.entry)
    }

    /// Returns the entry if it answers a call without a load, and reloads it if it soon becomes stale.
    private func answer(
        _ held: UsableEntry<Value>?,
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>? = nil
    ) -> MemoryFound<Value>? {
        guard call.policy.source != .load, let held, held.isFresh, call.accepts(held.entry) else {
            return nil
        }
        refreshAhead(held, call, id)
        return held.entry
    }

    func glance(_ key: Key) -> UsableEntry<Value>? { memory.look(key).flatMap { usable($0) } }

    private func usable(_ found: MemoryFound<Value>) -> UsableEntry<Value>? {
        let now = clock.now.microseconds
        guard found.usableUntil > now, found.detail?.isIdle(at: now) != true, lives(found) else {
            return nil
        }
        return UsableEntry(entry: found, isFresh: found.freshUntil > now, now: now)
    }

    private func refreshAhead(
        _ held: UsableEntry<Value>,
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>?
    ) {
        guard let part = call.policy.refreshAhead, held.entry.freshUntil != .max,
            let created = held.entry.detail?.created
        else { return }
        let freshness = Double(held.entry.freshUntil) - Double(created)
        let age = Double(clock.now.microseconds) - Double(created)
        guard age >= freshness * part else { return }
        let now = begin(call.key)
        defer { memory.end(call.key) }
        loadBehind(call, id ?? now, held.entry.detail)
    }

    // MARK: Loading

    /// Loads a value in the background, once per key, unless the key has been changed since `id` began.
    ///
    /// Marks `detail`, that of the entry to refresh, so that the entry's readers do not try to load.
    func loadBehind(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>,
        _ detail: MemoryDetail?
    ) {
        guard memory.begin(call.key) == id.generation else { return memory.end(call.key) }
        var hasher = Hasher()
        hasher.combine(call.key)
        let name = UInt64(bitPattern: Int64(hasher.finalize()))
        let isFirst = background.start(name) { [self] in
            defer { memory.end(call.key) }
            // The key may have been changed before this task has begun.
            guard memory.isCurrent(call.key, id.generation) else { return }
            // Another load may have replaced the entry since the caller looked.
            if let held = glance(call.key), held.isFresh, call.accepts(held.entry),
                held.entry.detail !== detail
            {
                return
            }
            // Set inside the task, so that the mark never outlives the load.
            detail?.setRenewed(true)
            defer { detail?.setRenewed(false) }
            // The failure is counted, and the next reader may try again.
            _ = try? await flightInTime(call, id, isForced: true)
        }
        if !isFirst { memory.end(call.key) }
    }

    private func loadAndWait(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>,
        standIn: MemoryFound<Value>?
    ) async throws -> Value? {
        let isForced = call.policy.source == .load
        do {
            return try await flightInTime(call, id, standIn, isForced: isForced)
        } catch {
            guard call.policy.servesStaleOnError, !Task.isCancelled,
                let value = substitute(id, standIn)
            else { throw error }
            ledger.count { $0.staleHits += 1 }
            return value
        }
    }

    /// Returns a stale value to serve instead of a failed load, but never one removed since.
    func substitute(_ id: FlightID<Key>, _ standIn: MemoryFound<Value>?) -> Value? {
        if let value = glance(id.key)?.entry.value { return value }
        guard memory.isCurrent(id.key, id.generation) else { return nil }
        return standIn.flatMap { usable($0) }?.entry.value
    }

    /// Joins or starts the flight of a key; starts another one if a shared one finds no value but the call needs one.
    func flight(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>,
        isForced: Bool,
        onBoard: @escaping @Sendable () -> Void = {}
    ) async throws -> Value? {
        let value = try await flights.run(id, onJoin: onBoard) { [self] in
            onBoard()
            // Another flight may have ended since the caller looked.
            if !isForced, let held = glance(call.key), held.isFresh, call.accepts(held.entry) {
                return LoadOutcome(value: held.entry.value)
            }
            return LoadOutcome(value: try await perform(call, id))
        }.value
        if value != nil || call.acceptsAbsence { return value }
        // Not in a new generation: what was removed since the call began must not be stored again for it.
        return try await flight(call, id, isForced: isForced, onBoard: onBoard)
    }

    private func perform(
        _ call: LoadCall<Key, Value>,
        _ id: FlightID<Key>
    ) async throws -> Value? {
        ledger.count { $0.loads += 1 }
        let loaded: CacheLoaded<Value>
        do {
            loaded = try await call.load()
        } catch {
            if !Task.isCancelled { ledger.count { $0.loadFailures += 1 } }
            throw error
        }
        // If canceled, no caller waits any more, and another flight may be under way.
        guard loaded.isStored, !Task.isCancelled else { return loaded.value }
        let stored = store(
            loaded,
            for: call.key,
            stamp: id.stamp,
            generation: id.generation,
            refreshes: call.policy.refreshAhead != nil
        )
        if stored.result == .superseded { ledger.count { $0.supersededLoads += 1 } }
        _ = await settle(stored)
        return loaded.value
    }
}

@usableFromInline
struct LoadCall<Key: Hashable & Sendable, Value: Sendable>: Sendable {
    let key: Key
    let policy: CachePolicy
    let acceptsAbsence: Bool
    let load: @Sendable () async throws -> CacheLoaded<Value>

    func accepts(_ found: MemoryFound<Value>) -> Bool { found.value != nil || acceptsAbsence }
}

struct LoadOutcome<Value: Sendable>: Sendable {
    let value: Value?
}

extension CachePolicy {
    /// Whether a fresh value in memory answers the call with no further work.
    @usableFromInline var looksFirst: Bool { source != .load && refreshAhead == nil }
}

extension CacheError {
    @usableFromInline static var notCached: CacheError {
        CacheError(
            .notCached,
            "the value is not in the cache, and the policy does not allow loading it"
        )
    }
}

/// A loaded value with its own caching instructions.
public struct CacheLoaded<Value: Sendable>: Sendable {
    /// The value, or nil if there is none.
    public var value: Value?
    /// The time for which the value is fresh; nil for the configured expiry, or for
    /// ``CacheConfiguration/absenceExpiry`` if there is no value.
    public var expiry: CacheExpiry?
    /// The time for which the stale value may be served; nil for the configured staleness.
    public var staleness: Duration?
    /// The cost of the value; nil to use the cache's cost function.
    public var cost: Int?
    /// The tags of the value; ``Cache/removeAll(tagged:)`` removes all values with a tag.
    public var tags: [String]
    /// Whether the value may be stored at all.
    public var isStored: Bool

    /// Creates a loaded value.
    public init(
        _ value: Value?,
        expiry: CacheExpiry? = nil,
        staleness: Duration? = nil,
        cost: Int? = nil,
        tags: [String] = [],
        isStored: Bool = true
    ) {
        self.value = value
        self.expiry = expiry
        self.staleness = staleness
        self.cost = cost
        self.tags = tags
        self.isStored = isStored
    }
}

/// The tasks that continue after a cache has answered.
final class BackgroundLoads: Sendable {
    private let state = Mutex<Set<UInt64>>([])

    var count: Int { state.withLock { $0.count } }

    /// Runs work in the background, unless work of the same name is running; returns whether the work has been started.
    @discardableResult
    func start(_ name: UInt64, _ work: @escaping @Sendable () async -> Void) -> Bool {
        guard state.withLock({ $0.insert(name).inserted }) else { return false }
        Task {
            await work()
            state.withLock { _ = $0.remove(name) }
        }
        return true
    }
}
