internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Reads a store's change log once for all listeners.
///
/// Listeners with the same interest share a channel, and channels are indexed by collection, so the cost of a commit
/// depends only on the affected channels: each change is encoded once per database name, and each page once per
/// channel. There are two tasks: one reads the log, and one sends heartbeats to idle listeners. Both start when the
/// first listener has caught up and end with the last listener. ``ChangeReading`` contains the reading code that is
/// shared with the hub of a client.
final class ChangeHub: Sendable {
    typealias ID = UInt64

    /// The reason for refusing a listener.
    enum Refusal: Error { case isFull, isShutDown }

    struct Channel {
        let interest: ChangeInterest
        let filter: ScopeFilter
        var listeners: [ID: ChangeListener] = [:]
    }

    struct State {
        var isShutDown = false
        var nextID: ID = 0
        var listeners: [ID: Int] = [:]
        var nextChannel = 0
        var channels: [Int: Channel] = [:]
        var byInterest: [ChangeInterest: Int] = [:]
        var interested = InterestIndex<Int>()
        var byClient: [String: Set<Int>] = [:]
        var tasks: [Task<Void, Never>] = []
        /// Distinguishes the current tasks from replaced ones.
        var generation: UInt64 = 0
        /// The position at which the shared reader started; nil while it is not running.
        var start: ChangeCursor?
        /// The position that the shared reader has reached.
        var reached: ChangeCursor?
        /// The last delivered consistent point, and the store's time there.
        var consistent: (position: ChangeCursor, time: Timestamp?)?
        /// The channels with deliveries since the last consistent point.
        var staged: Set<Int> = []
    }

    let adapter: any StorageAdapter
    let epoch: StoreEpoch
    let configuration: ChangeService.Configuration
    let changeReader = ChangeReader(server: "sync")
    let state = Mutex(State())
    /// The bytes that wait for listeners.
    let waiting = ByteCount()
    /// The bytes that are being sent to clients.
    let sending = ByteCount()

    init(adapter: any StorageAdapter, configuration: ChangeService.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
        epoch = StoreEpoch(adapter: adapter, make: configuration.makeEpoch)
    }

    deinit {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    /// The number of bytes of documents per page for a listener that is behind.
    var pageBytes: Int {
        let room = configuration.maximumBacklogBytes - sending.value
        return min(configuration.streamPageBytes, max(configuration.smallPageBytes, room))
    }

    var count: Int { state.withLock { $0.listeners.count } }

    // MARK: Listeners

    func add(_ listener: ChangeListener) throws(Refusal) -> ID {
        try state.withLock { state throws(Refusal) in
            guard !state.isShutDown else { throw .isShutDown }
            guard state.listeners.count < configuration.maximumListeners else { throw .isFull }
            let id = state.nextID
            state.nextID += 1
            let channel = state.channel(for: listener.interest)
            state.channels[channel]?.listeners[id] = listener
            state.listeners[id] = channel
            return id
        }
    }

    /// Removes a listener, and ends the tasks after the last one.
    func remove(_ id: ID) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            guard let channel = state.listeners.removeValue(forKey: id) else { return [] }
            state.channels[channel]?.listeners[id] = nil
            if state.channels[channel]?.listeners.isEmpty == true { state.close(channel) }
            return state.listeners.isEmpty ? state.stop() : []
        }
        for task in tasks { task.cancel() }
    }

    /// Ends one of so many listeners, at least one.
    func end(oneOf count: Int) {
        let listeners = state.withLock { state in
            let all = state.channels.values.flatMap(\.listeners.values)
            return all.prefix((all.count + count - 1) / count)
        }
        for listener in listeners { listener.end() }
    }

    /// Ends all listeners and refuses new ones.
    func shutDown() {
        let (listeners, tasks) = state.withLock { state in
            state.isShutDown = true
            return (state.channels.values.flatMap(\.listeners.values), state.stop())
        }
        for task in tasks { task.cancel() }
        for listener in listeners { listener.end() }
    }

    // MARK: Going live

    /// Starts to collect events for a listener that is about to read a page.
    func attend(_ listener: ChangeListener) {
        state.withLock { listener.attend(from: $0.reached) }
    }

    /// Connects a listener to the shared reader, after its own read has reached the end of the log.
    ///
    /// - Returns: Whether the listener is live; otherwise it has to read again.
    func join(
        _ listener: ChangeListener,
        at position: ChangeCursor,
        time: Timestamp?
    ) -> Bool {
        state.withLock { state in
            guard !state.isShutDown else { return false }
            let start = state.start ?? begin(&state, at: position, time: time)
            return listener.join(at: position, start: start)
        }
    }

    private func begin(
        _ state: inout State,
        at position: ChangeCursor,
        time: Timestamp?
    ) -> ChangeCursor {
        state.start = position
        state.reached = position
        state.consistent = (position, time)
        state.generation += 1
        let generation = state.generation
        // Both tasks are canceled by removing the last listener, and by `deinit`.
        let hub: @Sendable () -> ChangeHub? = { [weak self] in self }
        let beat = StorageContext.withoutContext { Task { await Self.beat(generation, hub) } }
        state.tasks = [startReader(generation), beat]
        return position
    }
}

extension ChangeHub.State {
    /// Returns the channel of an interest, created if necessary.
    fileprivate mutating func channel(for interest: ChangeInterest) -> Int {
        if let channel = byInterest[interest] { return channel }
        let channel = nextChannel
        nextChannel += 1
        byInterest[interest] = channel
        channels[channel] = ChangeHub.Channel(
            interest: interest,
            filter: ScopeFilter(interest.scope)
        )
        interested.insert(channel, for: interest.scope)
        for client in interest.clients { byClient[client, default: []].insert(channel) }
        return channel
    }

    fileprivate mutating func close(_ channel: Int) {
        guard let interest = channels.removeValue(forKey: channel)?.interest else { return }
        byInterest[interest] = nil
        staged.remove(channel)
        interested.remove(channel, for: interest.scope)
        for client in interest.clients { byClient.change(client) { $0.remove(channel) } }
    }

    /// Returns the tasks, which the caller must cancel, and resets the reader.
    mutating func stop() -> [Task<Void, Never>] {
        defer { tasks = [] }
        generation += 1
        start = nil
        reached = nil
        consistent = nil
        staged = []
        return tasks
    }
}
