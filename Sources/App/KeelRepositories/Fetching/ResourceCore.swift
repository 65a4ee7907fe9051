internal import KeelCore
internal import KeelHTTP
internal import KeelStorage
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The shared state of a loader's copies, except its background tasks.
final class ResourceCore: Sendable {
    private struct Flight: Hashable, Sendable {
        let place: String
        let epoch: Int
        let type: ObjectIdentifier
    }

    let memory: ResourceMemory?
    let now: @Sendable () -> Date
    let clock: any Clock<Duration>
    let signal = Signal()
    let owners: ResourceOwners
    let ledger: any FetchLedger
    private let reporter: ResourceReporter
    private let transient = TransientFetchLedger()
    private let flights = SingleFlight<Flight, any Sendable>()
    /// Serializes changes to the device's copies.
    private let turns = SerialQueue()
    private let epochs = Mutex<[String: Int]>([:])
    private let userChanges = Mutex(0)

    init(
        _ ledger: any FetchLedger,
        _ memory: ResourceMemory?,
        _ identity: (@Sendable () async -> String?)?,
        _ observer: (@Sendable (ResourceObservation) -> Void)?,
        clock: any Clock<Duration>,
        now: @escaping @Sendable () -> Date
    ) {
        self.ledger = ledger
        self.memory = memory
        self.clock = clock
        self.now = now
        reporter = ResourceReporter(observer: observer)
        owners = ResourceOwners(identity)
    }

    var waiterCount: Int { flights.waiterCount }

    /// A number that grows with each invalidation of one of the tags.
    func epoch(of tags: Set<String>) -> Int {
        epochs.withLock { epochs in tags.reduce(0) { $0 + epochs[$1, default: 0] } }
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        advanceEpochs(of: tags)
        defer { signal.raise() }
        // In a canceled task, a ledger may refuse, although the change may have taken effect.
        let invalidation = Task { [transient, ledger] () async -> DataSourceError? in
            do throws(DataSourceError) {
                try await transient.invalidate(tags)
                try await ledger.invalidate(tags)
                return nil
            } catch {
                return error
            }
        }
        let failure = await invalidation.value
        // After the ledger, so that newly cached values have the new times.
        await memory?.remove(tags)
        if let failure { throw failure }
    }

    private func advanceEpochs(of tags: Set<String>) {
        epochs.withLock { epochs in for tag in tags { epochs[tag, default: 0] += 1 } }
    }

    /// Changes copies with the tags `changes` while no fetched value is being kept, and invalidates `tags` afterwards,
    /// even if the change fails.
    func write<Value>(
        invalidating tags: Set<String> = [],
        changing changes: Set<String> = [],
        _ body: () async throws(DataSourceError) -> Value
    ) async throws(DataSourceError) -> Value {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        let value: Value
        do throws(DataSourceError) {
            value = try await body()
        } catch {
            // The body may have changed something before it failed, and the service before the body began.
            if !tags.isEmpty { try? await invalidate(tags) }
            await memory?.remove(changes)
            throw error
        }
        // Within the turn, so that earlier fetches are no longer kept.
        if !tags.isEmpty { try await invalidate(tags) }
        if !changes.isEmpty { await memory?.remove(changes) }
        return value
    }

    // MARK: Reading

    func kept<Value>(
        _ resource: Resource<Value>,
        maxAge: Duration?
    ) async throws(DataSourceError) -> Fetched<Value>? {
        let copy = try await copy(of: resource)
        guard let value = copy.value else { return nil }
        guard let time = copy.time else { return Fetched(value, .stale(age: nil)) }
        let seconds = now().timeIntervalSince(time)
        // After the clock was set back, the age is unknown.
        guard seconds >= 0 else { return Fetched(value, .stale(age: nil)) }
        let age = Duration.seconds(seconds)
        if let maxAge, age > maxAge { return Fetched(value, .stale(age: age)) }
        return Fetched(value, .cached(age: age))
    }

    func copy<Value>(
        of resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        if let origin = resource.origin { return try await origin(self, resource) }
        guard let memory else { return try await read(resource) }
        if let found = memory.peek(resource) {
            reporter.remembered(resource, found)
            return found
        }
        let noting = (ledger(of: resource) as? any FollowedLedger)?.scope(of: resource.place)
        let owning = resource.ownerMark.flatMap {
            (self.ledger as? any FollowedLedger)?.scope(of: $0)
        }
        let scopes = [noting, resource.scope, owning].compactMap(\.self)
        return try await memory.load(resource, following: scopes) {
            () async throws(DataSourceError) in try await self.read(resource)
        }
    }

    private func ledger<Value>(of resource: Resource<Value>) -> any FetchLedger {
        resource.isTransient ? transient : ledger
    }

    private func read<Value>(
        _ resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        try await reporter.asking(.store, resource) {
            $0.value != nil
        } _: { () async throws(DataSourceError) in
            try await self.stored(resource)
        }
    }

    private func stored<Value>(
        _ resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        for _ in 0..<3 {
            let (found, isOwned) = try await storedByAnyone(resource)
            guard let owner = resource.owner, let home = resource.home else { return found }
            if isOwned, owners.isSettled(owner, in: home) { return found }
            // Another process has emptied the home for another user: this user takes it back.
            if !isOwned { owners.unsettle(home) }
            guard try await self.owner(for: home) == owner else { break }
        }
        throw .somebodyElse
    }

    /// Reads the copy, and whether it belongs to the resource's user.
    private func storedByAnyone<Value>(
        _ resource: Resource<Value>
    ) async throws(DataSourceError) -> (Remembered<Value>, isOwned: Bool) {
        var marks: [StoreMark] = []
        var isLasting = true
        func mark<Part>(_ copy: KeptCopy<Part>, in scope: StoreScope?) {
            guard let scope else { return }
            if let position = copy.position {
                marks.append(StoreMark(scope: scope, position: position))
            } else {
                isLasting = false
            }
        }
        let time: Date?
        let ledger = ledger(of: resource)
        if memory != nil, let ledger = ledger as? any FollowedLedger {
            let noted = try await ledger.copy(of: resource.place)
            mark(noted, in: ledger.scope(of: resource.place))
            time = noted.value
        } else {
            time = try await ledger.time(of: resource.place)
        }
        var wasKept = time != nil
        if !wasKept, let mark = resource.keepingMark {
            wasKept = try await self.ledger.time(of: mark.key) != nil
        }
        var copy = KeptCopy<Value>(nil)
        // Where users share a place, a copy belongs to this user only if this user fetched it.
        if resource.owner == nil || resource.home != nil || time != nil {
            copy = try await resource.read(
                KeptQuestion(wasKept: wasKept, wantsPosition: memory != nil)
            )
            mark(copy, in: resource.scope)
        }
        var isOwned = true
        // After the copy: the mark of a user is removed before the copies of the next one arrive.
        if let key = resource.ownerMark {
            if memory != nil, let ledger = self.ledger as? any FollowedLedger {
                let noted = try await ledger.copy(of: key)
                mark(noted, in: ledger.scope(of: key))
                isOwned = noted.value != nil
            } else {
                isOwned = try await self.ledger.time(of: key) != nil
            }
        }
        let found = Remembered(
            value: copy.value,
            time: time,
            marks: marks,
            isLasting: isLasting && copy.value != nil,
            bytes: copy.bytes
        )
        return (found, isOwned)
    }

    // MARK: Fetching

    func fetch<Value>(_ resource: Resource<Value>) async throws(DataSourceError) -> Value {
        // Callers after an invalidation must not share an earlier fetch.
        let flight = Flight(
            place: resource.place,
            epoch: epoch(of: resource.tags),
            type: ObjectIdentifier(Value.self)
        )
        do {
            let value = try await flights.run(flight) { try await self.fetched(resource) }
            if let value = value as? Value { return value }
            throw DataSourceError(.unknown, "A fetch returned a value of another type.")
        } catch let error as DataSourceError {
            throw error
        } catch {
            throw DataSourceError(.cancelled, source: .remote, cause: error)
        }
    }

    private func fetched<Value>(_ resource: Resource<Value>) async throws(DataSourceError) -> Value
    {
        var attempts = 0
        while true {
            attempts += 1
            let start = try await start(of: resource)
            let arrival: Resource<Value>.Arrival
            do throws(DataSourceError) {
                arrival = try await reporter.asking(.service, resource) { _ in
                    true
                } _: { () async throws(DataSourceError) in
                    try await resource.fetch()
                }
            } catch {
                guard error.code == .notFound else { throw error }
                let isCurrent = try await write(changing: resource.forgets) {
                    () async throws(DataSourceError) in
                    try await self.confirm(resource.owner, in: resource.home)
                    // The value may have been saved in the meantime.
                    guard try await self.isUnchanged(resource, since: start) else { return false }
                    try await resource.remove()
                    return true
                }
                if isCurrent || attempts == 3 { throw error }
                continue
            }
            let store = arrival.store
            let isKept = try await write(changing: arrival.changes) {
                () async throws(DataSourceError) in
                // The user may have signed out since the request.
                try await self.confirm(resource.owner, in: resource.home)
                // A change in the meantime is newer than the response.
                guard try await self.isUnchanged(resource, since: start) else { return false }
                try await store()
                let ledger = self.ledger(of: resource)
                if arrival.isEarly {
                    try await ledger.invalidate([resource.key])
                } else {
                    try await ledger.record(resource.place, at: self.now(), tags: resource.tags)
                }
                // An invalidation waits for no turn, and may have come while the response was being kept.
                let isCurrent = await self.isValid(resource, since: start)
                if !isCurrent {
                    // In a canceled task, a ledger may refuse.
                    _ = await Task { try? await ledger.invalidate([resource.key]) }.value
                }
                try await self.noteKeeping(of: resource)
                return isCurrent
            }
            // Fetch again, because the response may be older than the change.
            guard isKept || attempts == 3 else { continue }
            // Cache the stored copy, which may differ from the response.
            if memory != nil { _ = try? await copy(of: resource) }
            return arrival.value
        }
    }

    /// Stores that a resource was once kept, so that an empty list survives an invalidation.
    private func noteKeeping<Value>(of resource: Resource<Value>) async throws(DataSourceError) {
        guard let mark = resource.keepingMark, try await ledger.time(of: mark.key) == nil else {
            return
        }
        try await ledger.record(mark.key, at: now(), tags: mark.tags)
    }

    // MARK: Users

    /// Returns the signed-in user, after removing other users' values from the home.
    func owner(for home: ResourceHome?) async throws(DataSourceError) -> String? {
        guard let owner = try await owners.current() else { return nil }
        if owners.isNew(owner) {
            await memory?.removeAll()
            userChanged()
        }
        guard let home, !owners.isSettled(owner, in: home) else { return owner }
        try await write { () async throws(DataSourceError) in
            guard !owners.isSettled(owner, in: home) else { return }
            // Another user may have signed in, and have values in the home, since the call asked.
            guard try await owners.current() == owner else { throw .somebodyElse }
            try await settle(owner, in: home)
        }
        return owner
    }

    /// Empties a home, unless it holds this user's values.
    ///
    /// Called in a turn.
    private func settle(_ owner: String, in home: ResourceHome) async throws(DataSourceError) {
        let mark = ResourceOwners.mark(of: owner, in: home)
        if try await ledger.time(of: mark) == nil {
            try await clear(home)
            try await ledger.record(mark, at: now(), tags: [ResourceOwners.tag(of: home)])
        }
        owners.settle(owner, in: home)
    }

    func empty(_ home: ResourceHome) async throws(DataSourceError) {
        try await write { () async throws(DataSourceError) in try await clear(home) }
    }

    /// Called in a turn.
    private func clear(_ home: ResourceHome) async throws(DataSourceError) {
        let tags: Set = [home.name, ResourceOwners.tag(of: home)]
        owners.unsettle(home)
        // First, so that values whose removal is interrupted do not count as kept.
        try await invalidate(tags)
        try await home.empty()
        try await invalidate(tags)
    }

    /// Checks that a user is still signed in.
    ///
    /// Called in a turn, before a change to the home. Takes the home back if another process has emptied it.
    func confirm(_ owner: String?, in home: ResourceHome?) async throws(DataSourceError) {
        guard let owner else { return }
        guard try await owners.current() == owner else { throw .somebodyElse }
        if let home { try await settle(owner, in: home) }
    }

    /// Whether a home still holds the user's values.
    func isHeld(_ home: ResourceHome, by owner: String?) async throws(DataSourceError) -> Bool {
        guard let owner else { return true }
        guard owners.isSettled(owner, in: home) else { return false }
        if try await ledger.time(of: ResourceOwners.mark(of: owner, in: home)) != nil {
            return true
        }
        owners.unsettle(home)
        return false
    }

    /// The number of times that the user may have changed.
    var userChangeCount: Int { userChanges.withLock { $0 } }

    /// Wakes observers, which compare the user with theirs.
    func userChanged() {
        userChanges.withLock { $0 += 1 }
        signal.raise()
    }

    func resource<Value>(
        _ recipe: ResourceRecipe<Value>
    ) async throws(DataSourceError) -> Resource<Value> {
        recipe.resource(for: try await owner(for: recipe.home))
    }
}
