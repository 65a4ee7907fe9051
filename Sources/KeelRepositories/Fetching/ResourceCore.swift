internal import KeelCore
internal import KeelHTTP
internal import KeelStorage
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// What the copies of a loader share, apart from its background tasks.
final class ResourceCore: Sendable {
    private struct Flight: Hashable, Sendable {
        let place: String
        let epoch: Int
        let type: ObjectIdentifier
    }

    let memory: ResourceMemory?
    let now: @Sendable () -> Date
    /// Raised at every invalidation.
    let signal = Signal()
    let owners: ResourceOwners
    let ledger: any FetchLedger
    private let teller: ResourceTeller
    private let passing = PassingFetchLedger()
    private let flights = SingleFlight<Flight, any Sendable>()
    /// What changes this device's copy does so one after the other.
    private let turns = SerialTurns()
    /// How often each tag was invalidated.
    private let epochs = Mutex<[String: Int]>([:])

    init(
        _ ledger: any FetchLedger,
        _ memory: ResourceMemory?,
        _ identity: (@Sendable () async -> String?)?,
        _ observer: (@Sendable (ResourceObservation) -> Void)?,
        now: @escaping @Sendable () -> Date
    ) {
        self.ledger = ledger
        self.memory = memory
        self.now = now
        teller = ResourceTeller(observer: observer)
        owners = ResourceOwners(identity)
    }

    /// How many callers wait for fetches under way.
    var waiterCount: Int { flights.waiterCount }

    /// A number that grows whenever something with one of these tags is invalidated.
    func epoch(of tags: Set<String>) -> Int {
        epochs.withLock { epochs in tags.reduce(0) { $0 + epochs[$1, default: 0] } }
    }

    func invalidate(_ tags: Set<String>) async throws(DataSourceError) {
        advanceEpochs(of: tags)
        defer { signal.raise() }
        let failure: DataSourceError?
        do throws(DataSourceError) {
            try await passing.invalidate(tags)
            try await ledger.invalidate(tags)
            failure = nil
        } catch {
            failure = error
        }
        // After the ledger: what is remembered from now on has the times that it says now.
        await memory?.remove(tags)
        if let failure { throw failure }
    }

    private func advanceEpochs(of tags: Set<String>) {
        epochs.withLock { epochs in for tag in tags { epochs[tag, default: 0] += 1 } }
    }

    /// Changes this device's copy, while no fetched value is being kept.
    ///
    /// - Parameters:
    ///   - tags: What is out of date afterwards.
    ///   - changes: The tags of what is kept otherwise afterwards.
    ///   - body: Changes it.
    /// - Returns: What the body returned.
    /// - Throws: What the body throws, and what the ledger throws.
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
            // It may have changed something before it failed.
            await memory?.remove(tags.union(changes))
            throw error
        }
        // Before the turn ends: what was asked for before must not be kept any more.
        if !tags.isEmpty { try await invalidate(tags) }
        if !changes.isEmpty { await memory?.remove(changes) }
        return value
    }

    // MARK: Reading

    /// Returns what is kept, with its age.
    func kept<Value>(
        _ resource: Resource<Value>,
        maxAge: Duration?
    ) async throws(DataSourceError) -> Fetched<Value>? {
        let copy = try await copy(of: resource)
        guard let value = copy.value else { return nil }
        guard let time = copy.time else { return Fetched(value, .stale(age: nil)) }
        let seconds = now().timeIntervalSince(time)
        // A clock that was set back tells no age.
        guard seconds >= 0 else { return Fetched(value, .stale(age: nil)) }
        let age = Duration.seconds(seconds)
        if let maxAge, age > maxAge { return Fetched(value, .stale(age: age)) }
        return Fetched(value, .kept(age: age))
    }

    /// Returns what is remembered, or else what is kept, which is remembered then.
    func copy<Value>(
        of resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        if let origin = resource.origin { return try await origin(self, resource) }
        guard let memory else { return try await read(resource) }
        if let found = memory.peek(resource) {
            teller.remembered(resource, found)
            return found
        }
        let noting = (ledger(of: resource) as? any FollowedLedger)?.scope(of: resource.place)
        let scopes = [noting, resource.scope].compactMap(\.self)
        return try await memory.load(resource, following: scopes) {
            () async throws(DataSourceError) in try await self.read(resource)
        }
    }

    private func ledger<Value>(of resource: Resource<Value>) -> any FetchLedger {
        resource.isPassing ? passing : ledger
    }

    private func read<Value>(
        _ resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
        try await teller.asking(.store, resource) {
            $0.value != nil
        } _: { () async throws(DataSourceError) in
            try await self.stored(resource)
        }
    }

    private func stored<Value>(
        _ resource: Resource<Value>
    ) async throws(DataSourceError) -> Remembered<Value> {
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
        // Where users share a place, only what this one fetched is this one's.
        if resource.owner == nil || resource.home != nil || time != nil {
            copy = try await resource.read(
                KeptQuestion(wasKept: wasKept, wantsPosition: memory != nil)
            )
            mark(copy, in: resource.scope)
        }
        try owners.check(resource.owner, in: resource.home)
        return Remembered(
            value: copy.value,
            time: time,
            marks: marks,
            isLasting: isLasting && copy.value != nil,
            bytes: copy.bytes
        )
    }

    // MARK: Fetching

    /// Asks the source, together with all who ask now, and keeps what it says.
    func fetch<Value>(_ resource: Resource<Value>) async throws(DataSourceError) -> Value {
        // Who asks after an invalidation must not get what was asked for before it.
        let flight = Flight(
            place: resource.place,
            epoch: epoch(of: resource.tags),
            type: ObjectIdentifier(Value.self)
        )
        do {
            let value = try await flights.run(flight) { try await self.fetched(resource) }
            if let value = value as? Value { return value }
            throw DataSourceError(.unknown, "A fetch gave a value of another type.")
        } catch let error as DataSourceError {
            throw error
        } catch {
            throw DataSourceError(.cancelled, source: .remote, cause: error)
        }
    }

    private func fetched<Value>(_ resource: Resource<Value>) async throws(DataSourceError) -> Value
    {
        var arrival: Resource<Value>.Arrival
        var attempts = 0
        repeat {
            attempts += 1
            let epoch = epoch(of: resource.tags)
            do throws(DataSourceError) {
                arrival = try await teller.asking(.service, resource) { _ in
                    true
                } _: { () async throws(DataSourceError) in
                    try await resource.fetch()
                }
            } catch {
                if error.code == .notFound {
                    try await write(changing: resource.forgets) {
                        () async throws(DataSourceError) in
                        try await self.owners.confirm(resource.owner, in: resource.home)
                        try await resource.forget()
                    }
                }
                throw error
            }
            let keep = arrival.keep
            let isKept = try await write(changing: arrival.changes) {
                () async throws(DataSourceError) in
                // Whom the source answered may have signed out meanwhile.
                try await self.owners.confirm(resource.owner, in: resource.home)
                // What was changed here meanwhile is newer than what the source had said.
                guard epoch == self.epoch(of: resource.tags) else { return false }
                try await keep()
                try await self.ledger(of: resource)
                    .note(resource.place, at: self.now(), tags: resource.tags)
                try await self.noteKeeping(of: resource)
                return true
            }
            if isKept { break }
            // Asked again, because the answer may be older than what was changed.
        } while attempts < 3
        // What the store made of it, and not what the source said, is what is remembered.
        if memory != nil { _ = try? await copy(of: resource) }
        return arrival.value
    }

    /// Notes that something was kept once, so that an empty list is still an answer after it was
    /// invalidated.
    private func noteKeeping<Value>(of resource: Resource<Value>) async throws(DataSourceError) {
        guard let mark = resource.keepingMark, try await ledger.time(of: mark.key) == nil else {
            return
        }
        try await ledger.note(mark.key, at: now(), tags: mark.tags)
    }

    // MARK: Users

    /// Who is signed in; what others have left where the user's things are kept is removed first.
    func owner(for home: ResourceHome?) async throws(DataSourceError) -> String? {
        guard let owner = try await owners.current() else { return nil }
        if owners.isNew(owner) { await memory?.removeAll() }
        guard let home, !owners.isSettled(owner, in: home) else { return owner }
        try await write { () async throws(DataSourceError) in
            guard !owners.isSettled(owner, in: home) else { return }
            let mark = ResourceOwners.mark(of: owner, in: home)
            if try await ledger.time(of: mark) == nil {
                owners.unsettle(home)
                try await home.empty()
                try await invalidate([home.name, ResourceOwners.tag(of: home)])
                try await ledger.note(mark, at: now(), tags: [ResourceOwners.tag(of: home)])
            }
            owners.settle(owner, in: home)
        }
        return owner
    }

    /// Makes the resource for whoever is signed in.
    func resource<Value>(
        _ recipe: ResourceRecipe<Value>
    ) async throws(DataSourceError) -> Resource<Value> {
        recipe.resource(for: try await owner(for: recipe.home))
    }
}
