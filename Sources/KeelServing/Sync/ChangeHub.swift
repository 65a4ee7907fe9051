internal import KeelStorage
internal import Synchronization

/// Reads a store's change log once for all listeners.
///
/// Listeners that want the same share a channel, and channels are found by collection, so that a
/// commit costs what it concerns: each change is encoded once a database name, each page once a
/// channel. Two tasks do everything: one reads the log, one beats for listeners that hear nothing.
/// Both begin when the first listener has caught up and end with the last one.
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
        var byDocument: [DocumentPath: Set<Int>] = [:]
        var byCollection: [CollectionPath: Set<Int>] = [:]
        /// The channels of collection groups, by the bytes of their names.
        var byGroup: [[UInt8]: Set<Int>] = [:]
        var byClient: [String: Set<Int>] = [:]
        /// The channels that everything concerns.
        var unscoped: Set<Int> = []
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

    /// The clients that listeners are told of.
    var clients: Set<String> { state.withLock { Set($0.byClient.keys) } }

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
        state.tasks = StorageContext.withoutContext {
            [
                Task { await Self.read(from: position, generation, hub) },
                Task { await Self.beat(generation, hub) },
            ]
        }
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
        register(interest) { $0.insert(channel) }
        return channel
    }

    fileprivate mutating func close(_ channel: Int) {
        guard let interest = channels.removeValue(forKey: channel)?.interest else { return }
        byInterest[interest] = nil
        staged.remove(channel)
        register(interest) { $0.remove(channel) }
    }

    /// Changes the sets of channels by which those of an interest are found.
    private mutating func register(_ interest: ChangeInterest, _ change: (inout Set<Int>) -> Void) {
        let scope = interest.scope
        if scope.isEverything { change(&unscoped) }
        for path in scope.documents { Self.change(&byDocument[path], change) }
        for path in scope.collections { Self.change(&byCollection[path], change) }
        for name in scope.groups { Self.change(&byGroup[Array(name.utf8)], change) }
        for selection in scope.selections {
            switch selection.scope {
            case .collection(let path): Self.change(&byCollection[path], change)
            case .group(let name, _): Self.change(&byGroup[Array(name.utf8)], change)
            }
        }
        for client in interest.clients { Self.change(&byClient[client], change) }
    }

    private static func change(_ channels: inout Set<Int>?, _ change: (inout Set<Int>) -> Void) {
        var changed = channels ?? []
        change(&changed)
        channels = changed.isEmpty ? nil : changed
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

    /// The channels that a change concerns.
    func channels(for change: ChangePage.Change) -> Set<Int> {
        let path = change.path
        guard !ChangeMessages.isServers(path) else { return [] }
        var channels = unscoped
        if let own = byDocument[path] { channels.formUnion(own) }
        if let own = byCollection[path.collection] { channels.formUnion(own) }
        if !byGroup.isEmpty, let own = byGroup[Array(path.collection.name.utf8)] {
            channels.formUnion(own)
        }
        return channels
    }
}
