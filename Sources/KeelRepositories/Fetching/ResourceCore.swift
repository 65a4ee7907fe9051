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
        let key: String
        let epoch: Int
        let type: ObjectIdentifier
    }

    let ledger: any FetchLedger
    let now: @Sendable () -> Date
    /// Raised at every invalidation.
    let signal = Signal()
    private let flights = SingleFlight<Flight, any Sendable>()
    /// What changes this device's copy does so one after the other.
    private let turns = SerialTurns()
    /// How often each tag was invalidated.
    private let epochs = Mutex<[String: Int]>([:])

    init(_ ledger: any FetchLedger, now: @escaping @Sendable () -> Date) {
        self.ledger = ledger
        self.now = now
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
        try await ledger.invalidate(tags)
    }

    private func advanceEpochs(of tags: Set<String>) {
        epochs.withLock { epochs in for tag in tags { epochs[tag, default: 0] += 1 } }
    }

    /// Changes this device's copy, while no fetched value is being kept.
    func write<Value>(
        invalidating tags: Set<String> = [],
        _ body: () async throws(DataSourceError) -> Value
    ) async throws(DataSourceError) -> Value {
        let turn = turns.reserve()
        await turns.begin(turn)
        defer { turns.end() }
        let value = try await body()
        // Before the turn ends: what was asked for before must not be kept any more.
        if !tags.isEmpty { try await invalidate(tags) }
        return value
    }

    // MARK: Reading

    /// Returns what is kept, with its age.
    func kept<Value>(
        _ resource: Resource<Value>,
        maxAge: Duration?
    ) async throws(DataSourceError) -> Fetched<Value>? {
        let time = try await ledger.time(of: resource.key)
        guard let value = try await resource.read(time != nil) else { return nil }
        guard let time else { return Fetched(value, .stale(age: nil)) }
        let seconds = now().timeIntervalSince(time)
        // A clock that was set back tells no age.
        guard seconds >= 0 else { return Fetched(value, .stale(age: nil)) }
        let age = Duration.seconds(seconds)
        if let maxAge, age > maxAge { return Fetched(value, .stale(age: age)) }
        return Fetched(value, .kept(age: age))
    }

    /// Asks the source, together with all who ask now, and keeps what it says.
    func fetch<Value>(_ resource: Resource<Value>) async throws(DataSourceError) -> Value {
        // Who asks after an invalidation must not get what was asked for before it.
        let flight = Flight(
            key: resource.key,
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
                arrival = try await resource.fetch()
            } catch {
                if error.code == .notFound {
                    try await write { () async throws(DataSourceError) in
                        try await resource.forget()
                    }
                }
                throw error
            }
            let keep = arrival.keep
            let isKept = try await write { () async throws(DataSourceError) in
                // What was changed here meanwhile is newer than what the source had said.
                guard epoch == self.epoch(of: resource.tags) else { return false }
                try await keep()
                try await self.ledger.note(resource.key, at: self.now(), tags: resource.tags)
                return true
            }
            if isKept { break }
            // Asked again, because the answer may be older than what was changed.
        } while attempts < 3
        return arrival.value
    }
}
