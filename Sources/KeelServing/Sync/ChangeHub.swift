internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// Reads a store's change log once for all listeners.
///
/// Listeners that want the same share a channel, and channels are found by collection, so that a
/// commit costs what it concerns: each change is encoded once a database name, each page once a
/// channel. Two tasks do everything: one reads the log, one beats for listeners that hear nothing.
/// Both begin when the first listener has caught up and end with the last one. ``ChangeReading`` is the
/// reading that it shares with a client's hub.
final class ChangeHub: Sendable {
    typealias ID = UInt64

    /// Why a listener is not taken.
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
        /// Tells the tasks that count from those that were replaced.
        var generation: UInt64 = 0
        /// Where the shared reader began; nil while it does not run.
        var start: ChangeCursor?
        /// How far it has read.
        var reached: ChangeCursor?
        /// The last consistent point that it has told, and the store's time there.
        var consistent: (position: ChangeCursor, time: Timestamp?)?
        /// The channels that have been told something since the last consistent point.
        var staged: Set<Int> = []
    }

    let adapter: any StorageAdapter
    let epoch: StoreEpoch
    let configuration: ChangeService.Configuration
    let state = Mutex(State())
    /// The bytes that wait for listeners whose readers are busy.
    let waiting = ByteCount()
    /// The bytes that readers have taken and are sending.
    let sending = ByteCount()

    init(adapter: any StorageAdapter, configuration: ChangeService.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
        epoch = StoreEpoch(adapter: adapter, make: configuration.makeEpoch)
    }

    deinit {
        for task in state.withLock({ $0.tasks }) { task.cancel() }
    }

    /// How many bytes of documents a listener that is behind reads at once.
    var pageBytes: Int {
        let room = configuration.mostWaitingBytes - sending.value
        return min(configuration.streamPageBytes, max(configuration.smallPageBytes, room))
    }

    /// How many listeners there are.
    var count: Int { state.withLock { $0.listeners.count } }

    // MARK: Coming and going

    /// Gives a listener a place.
    func add(_ listener: ChangeListener) throws(Refusal) -> ID {
        try state.withLock { state throws(Refusal) in
            guard !state.isShutDown else { throw .isShutDown }
            guard state.listeners.count < configuration.mostListeners else { throw .isFull }
            let id = state.nextID
            state.nextID += 1
            let channel = state.channel(for: listener.interest)
            state.channels[channel]?.listeners[id] = listener
            state.listeners[id] = channel
            return id
        }
    }

    /// Takes a listener out, and ends the tasks with the last one.
    func remove(_ id: ID) {
        let tasks = state.withLock { state -> [Task<Void, Never>] in
            guard let channel = state.listeners.removeValue(forKey: id) else { return [] }
            state.channels[channel]?.listeners[id] = nil
            if state.channels[channel]?.listeners.isEmpty == true { state.close(channel) }
            return state.listeners.isEmpty ? state.stop() : []
        }
        for task in tasks { task.cancel() }
    }

    /// Ends all listeners, and takes no more.
    func shutDown() {
        let (listeners, tasks) = state.withLock { state in
            state.isShutDown = true
            return (state.channels.values.flatMap(\.listeners.values), state.stop())
        }
        for task in tasks { task.cancel() }
        for listener in listeners { listener.end() }
    }

    // MARK: Going live

    /// Begins to collect for a listener that is about to read a page.
    func attend(_ listener: ChangeListener) {
        state.withLock { listener.attend(from: $0.reached) }
    }

    /// Lets a listener whose own read has found the end of the log live on the shared reader.
    ///
    /// - Returns: Whether it does; otherwise it has to read again.
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
        // The last listener cancels both, and so does `deinit`.
        let hub: @Sendable () -> ChangeHub? = { [weak self] in self }
        let beat = StorageContext.withoutContext { Task { await Self.beat(generation, hub) } }
        state.tasks = [startReader(generation), beat]
        return position
    }
}

extension ChangeHub.State {
    /// The channel of an interest, opened if there is none.
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

    /// Forgets the tasks, which the caller then cancels.
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
