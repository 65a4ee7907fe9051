internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Reads a store's change log once for all listeners.
///
/// Listeners with the same interest share a channel, and channels are indexed, so the cost of a commit depends only on
/// the affected channels: each change is encoded once per database name, and each page once per channel. A channel with
/// queries receives only documents in their results, and those that leave them (``HeldDocuments``).
///
/// One task reads the log, one reads the results of queries, and one sends heartbeats to idle listeners. They start
/// when the first listener has caught up and end with the last listener. A listener that is behind reads for itself.
final class ChangeHub: Sendable {
    typealias ID = UInt64

    enum Refusal: Error {
        case isFull(CallerPlaces.Refusal)
        case isShutDown
    }

    struct Channel {
        let interest: ChangeInterest
        let filter: ScopeFilter
        var listeners: [ID: ChangeListener] = [:]
        /// The documents that the listeners may have.
        var held = HeldDocuments()
        /// The part of the scope without equalities, and their number; nil while the whole scope is indexed.
        var narrowed: (rest: ChangeScope, equalities: Int)?
    }

    struct State {
        var isShutDown = false
        var nextID: ID = 0
        var places: CallerPlaces
        var listeners: [ID: Int] = [:]
        var nextChannel = 0
        var channels: [Int: Channel] = [:]
        var byInterest: [ChangeInterest: Int] = [:]
        var interested = InterestIndex<Int>()
        var targets = TargetIndex()
        /// The channels whose held documents are known at a later consistent point.
        var ahead: Set<Int> = []
        var heldCount = 0
        var unseen = UnseenStates()
        /// The channels whose documents are to be read; nil while the shared reader is not running.
        var requests: AsyncStream<Int>.Continuation?
        var byClient: [String: Set<Int>] = [:]
        /// The last mutations of which the clients' channels have been told.
        var acknowledged: [String: Int64] = [:]
        var tasks: [Task<Void, Never>] = []
        var failures = 0
        var generation: UInt64 = 0
        /// The position at which the shared reader started; nil while it is not running.
        var start: ChangeCursor?
        var reached: ChangeCursor?
        /// The last consistent point whose changes have been assigned to channels, though perhaps not delivered.
        var taken: ChangeCursor?
        /// The last delivered consistent point, and the store's time there.
        var consistent: (position: ChangeCursor, time: Timestamp?)?
        /// The channels with deliveries since the last consistent point.
        var staged: Set<Int> = []
    }

    let adapter: any StorageAdapter
    let epoch: StoreEpoch
    let configuration: ChangeService.Configuration
    let changeReader = ChangeReader(server: "sync")
    let state: Mutex<State>
    let waiting = ByteCount()
    let sending = ByteCount()

    init(adapter: any StorageAdapter, configuration: ChangeService.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
        epoch = StoreEpoch(adapter: adapter, make: configuration.makeEpoch)
        let places = CallerPlaces(
            configuration.maximumListeners,
            perCaller: configuration.maximumListenersPerCaller
        )
        state = Mutex(State(places: places))
    }

    deinit {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    /// The size of a page for a listener that is behind, in bytes of documents.
    var pageBytes: Int {
        let room = configuration.maximumBacklogBytes - sending.value
        return min(configuration.streamPageBytes, max(configuration.smallPageBytes, room))
    }

    var count: Int { state.withLock { $0.listeners.count } }

    // MARK: Listeners

    func add(_ listener: ChangeListener) throws(Refusal) -> ID {
        try state.withLock { state throws(Refusal) in
            guard !state.isShutDown else { throw .isShutDown }
            do throws(CallerPlaces.Refusal) {
                try state.places.enter(listener.caller)
            } catch {
                throw .isFull(error)
            }
            let id = state.nextID
            state.nextID += 1
            let channel = state.channel(for: listener.interest)
            state.channels[channel]?.listeners[id] = listener
            state.listeners[id] = channel
            return id
        }
    }

    func remove(_ id: ID) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            guard let channel = state.listeners.removeValue(forKey: id) else { return [] }
            let listener = state.channels[channel]?.listeners.removeValue(forKey: id)
            state.places.leave(listener?.caller)
            if state.channels[channel]?.listeners.isEmpty == true { state.close(channel) }
            guard state.listeners.isEmpty else { return [] }
            state.failures = 0
            return state.stop()
        }
        for task in tasks { task.cancel() }
    }

    /// Ends one in `count` listeners, rounded up.
    func end(oneOf count: Int) {
        let listeners = state.withLock { state in
            let all = state.channels.values.flatMap(\.listeners.values)
            return all.prefix((all.count + count - 1) / count)
        }
        for listener in listeners { listener.end() }
    }

    func shutDown() {
        let (listeners, tasks) = state.withLock { state in
            state.isShutDown = true
            return (state.channels.values.flatMap(\.listeners.values), state.stop())
        }
        for task in tasks { task.cancel() }
        for listener in listeners { listener.end() }
    }

    // MARK: Going live

    /// Starts to collect events for a listener, before it reads a page.
    func attend(_ listener: ChangeListener) {
        state.withLock { listener.attend(from: $0.reached) }
    }

    /// Connects a listener to the shared reader, after its own read has reached the end of the log.
    ///
    /// Returns whether it is live; otherwise it must read again. With `isStream`, the results of its queries are read.
    func join(
        _ listener: ChangeListener,
        at position: ChangeCursor,
        time: Timestamp?,
        isStream: Bool = false
    ) -> Bool {
        state.withLock { state in
            guard !state.isShutDown else { return false }
            let start = state.start ?? begin(&state, at: position, time: time)
            guard listener.join(at: position, start: start) else { return false }
            if isStream {
                // The next page repeats them, because the listener's own may be older than the one that told of them.
                for client in listener.interest.clients { state.acknowledged[client] = nil }
                state.requestDocuments(of: listener.interest)
            }
            return true
        }
    }

    private func begin(
        _ state: inout State,
        at position: ChangeCursor,
        time: Timestamp?
    ) -> ChangeCursor {
        state.start = position
        state.reached = position
        state.taken = position
        state.consistent = (position, time)
        state.generation += 1
        let generation = state.generation
        // The tasks are canceled by removing the last listener, and by `deinit`.
        let hub: @Sendable () -> ChangeHub? = { [weak self] in self }
        let (channels, requests) = AsyncStream.makeStream(of: Int.self)
        state.requests = requests
        let (beat, results) = StorageContext.withoutContext {
            (
                Task { await Self.beat(generation, hub) },
                Task { await Self.readDocuments(of: channels, hub) }
            )
        }
        state.tasks = [startReader(generation, after: state.failures), beat, results]
        return position
    }
}

extension ChangeHub.State {
    fileprivate mutating func channel(for interest: ChangeInterest) -> Int {
        if let channel = byInterest[interest] { return channel }
        let channel = nextChannel
        nextChannel += 1
        byInterest[interest] = channel
        channels[channel] = ChangeHub.Channel(
            interest: interest,
            filter: ScopeFilter(interest.scope)
        )
        addToIndexes(channel, interest.scope)
        for client in interest.clients { byClient[client, default: []].insert(channel) }
        return channel
    }

    fileprivate mutating func close(_ channel: Int) {
        removeFromIndexes(channel)
        guard let closed = channels.removeValue(forKey: channel) else { return }
        let interest = closed.interest
        byInterest[interest] = nil
        staged.remove(channel)
        ahead.remove(channel)
        heldCount -= closed.held.paths.count
        for client in interest.clients {
            byClient.change(client) { $0.remove(channel) }
            if byClient[client] == nil { acknowledged[client] = nil }
        }
    }

    /// Records the last mutations of clients, and returns the channels of those that have new ones.
    mutating func acknowledge(_ mutations: [String: Int64]) -> Set<Int> {
        var concerned: Set<Int> = []
        for (client, mutation) in mutations where mutation > acknowledged[client] ?? .min {
            guard let channels = byClient[client] else { continue }
            acknowledged[client] = mutation
            concerned.formUnion(channels)
        }
        return concerned
    }

    /// Returns the tasks, which the caller must cancel, and resets the reader.
    mutating func stop() -> [Task<Void, Never>] {
        defer { tasks = [] }
        generation += 1
        start = nil
        reached = nil
        taken = nil
        consistent = nil
        staged = []
        forgetDocuments()
        return tasks
    }
}
