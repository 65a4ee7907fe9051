internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

extension ChangeHub: ChangeReading {
    var clock: any Clock<Duration> { configuration.clock }

    func nextRequest(of reader: UInt64) -> ChangeRequest? {
        state.withLock { state in
            guard state.generation == reader, let reached = state.reached else { return nil }
            var request = ChangeRequest(
                after: reached,
                maximumBytes: configuration.streamPageBytes,
                waitTimeout: .seconds(30)
            )
            request.clients = Set(state.byClient.keys)
            request.reader = changeReader
            return request
        }
    }

    /// Delivers a page to the interested listeners.
    ///
    /// Encoding holds no lock. A listener that meanwhile starts to collect starts after this page.
    func deliver(_ page: ChangePage, of reader: UInt64) {
        let page = page.acknowledgingOrigins()
        let (changes, interests) = state.withLock { state in
            guard state.generation == reader else {
                return ([Int: [ToldChange]](), [Int: ChangeInterest]())
            }
            state.failures = 0
            var changes = state.take(page, configuration)
            state.reached = page.next
            // A client's mutations are acknowledged even if they are outside of its scope, or have changed nothing.
            for channel in state.acknowledge(page.acknowledged) {
                changes[channel, default: []] += []
            }
            // Channels with changes since the last consistent point get the next one, even without further changes.
            if page.isCaughtUp { for id in state.staged { changes[id, default: []] += [] } }
            var interests: [Int: ChangeInterest] = [:]
            for channel in changes.keys { interests[channel] = state.channels[channel]?.interest }
            return (changes, interests)
        }
        var encoder = PageEncoder(page: page, epoch: epoch.known)
        let parcels = interests.map { channel, interest in
            let own = changes[channel] ?? []
            let events = BufferedBytes(encoder.events(own, for: interest), in: waiting)
            return (channel: channel, events: events, isMark: own.isEmpty)
        }
        let woken = state.withLock { state -> [ChangeListener.Wake] in
            guard state.generation == reader else { return [] }
            if page.isCaughtUp { state.consistent = (page.next, page.time) }
            state.staged = page.isCaughtUp ? [] : state.staged.union(parcels.map(\.channel))
            var woken: [ChangeListener.Wake] = []
            for (channel, events, isMark) in parcels {
                guard let listeners = state.channels[channel]?.listeners.values else { continue }
                woken += listeners.compactMap { $0.push(events, at: page.next, isMark: isMark) }
            }
            return woken
        }
        makeRoom()
        for wake in woken { wake.resume() }
    }

    /// While the total backlog is too large, cuts off the listeners with the largest backlogs, of the callers with
    /// most.
    private func makeRoom() {
        guard waiting.value > configuration.maximumBacklogBytes else { return }
        let listeners = state.withLock { $0.channels.values.flatMap(\.listeners.values) }
        let slow = listeners.map { (holder: $0, caller: $0.caller, bytes: $0.waitingBytes) }
            .filter { $0.bytes > 0 }
        for listener in CallerID.largestFirst(slow) {
            guard waiting.value > configuration.maximumBacklogBytes else { return }
            listener.cutOff()?.resume()
        }
    }

    func restart(at _: ChangeCursor, of reader: UInt64) { giveUp(reader) }

    func fail(_: StorageError, failures: Int, of reader: UInt64) -> Bool {
        let isLasting = state.withLock { state in
            guard state.generation == reader else { return false }
            state.failures = failures
            return failures >= ListenHub.mostFailures
        }
        if isLasting { giveUp(reader, endsListeners: true) }
        return true
    }

    /// Makes all listeners read for themselves: each checks its own position, and the first that catches up starts a
    /// new reader.
    ///
    /// With `endsListeners`, live listeners end instead.
    private func giveUp(_ reader: UInt64, endsListeners: Bool = false) {
        let (tasks, woken) = state.withLock { state in
            guard state.generation == reader else {
                return ([Task<Void, Never>](), [ChangeListener.Wake]())
            }
            if endsListeners { state.failures = 0 }
            let listeners = state.channels.values.flatMap(\.listeners.values)
            let woken = listeners.compactMap { listener in
                endsListeners ? listener.cutOff() : listener.fallBehind()
            }
            return (state.stop(), woken)
        }
        for task in tasks { task.cancel() }
        for wake in woken { wake.resume() }
    }

    static func beat(_ generation: UInt64, _ hub: @Sendable () -> ChangeHub?) async {
        while let configuration = hub()?.configuration {
            // After three counted beats, a listener has been idle for two thirds to all of the interval.
            let pause: Void? = try? await configuration.clock.sleep(
                for: configuration.heartbeat / 3
            )
            guard pause != nil, !Task.isCancelled else { return }
            hub()?.beat(generation)
        }
    }

    private func beat(_ generation: UInt64) {
        let woken = state.withLock { state -> [ChangeListener.Wake] in
            guard state.generation == generation else { return [] }
            let reached = state.consistent
            let mark = reached.map { position, time in
                let page = ChangePage(changes: [], next: position, isCaughtUp: true, time: time)
                return ChangeMessages.mark(page, epoch: epoch.known)
            }
            let told = BufferedBytes(mark ?? [], in: waiting)
            let comment = BufferedBytes(ChangeMessages.heartbeat, in: waiting)
            return state.channels.values.flatMap { channel in
                channel.listeners.values.compactMap {
                    $0.beat(reached: reached?.position, mark: told, comment: comment)
                }
            }
        }
        for wake in woken { wake.resume() }
    }
}

extension ChangePage {
    /// Returns the page with the mutations of its changes, also those of clients that came after it was requested.
    ///
    /// A client's mutations are committed in order, so the page also includes those before.
    fileprivate func acknowledgingOrigins() -> ChangePage {
        guard isCaughtUp else { return self }
        var page = self
        for origin in origins.values {
            let known = page.acknowledged[origin.client] ?? origin.mutation
            page.acknowledged[origin.client] = max(known, origin.mutation)
        }
        return page
    }
}

private struct PageEncoder {
    private struct Key: Hashable {
        let position: Int
        let database: String
        let hasLeft: Bool
    }

    let page: ChangePage
    let epoch: String
    private let mark: [UInt8]
    private var encoded: [Key: [UInt8]] = [:]

    init(page: ChangePage, epoch: String) {
        self.page = page
        self.epoch = epoch
        mark = ChangeMessages.mark(page, epoch: epoch)
    }

    mutating func events(
        _ changes: [ChangeHub.ToldChange],
        for interest: ChangeInterest
    ) -> [UInt8] {
        let mark =
            interest.clients.isEmpty
            ? mark : ChangeMessages.mark(page, for: interest, epoch: epoch)
        guard interest.tellsContent else { return mark }
        var bytes: [UInt8] = []
        for told in changes {
            let key = Key(
                position: told.position,
                database: interest.database,
                hasLeft: told.hasLeft
            )
            if let event = encoded[key] {
                bytes += event
                continue
            }
            let change = page.changes[told.position]
            let event = ChangeMessages.event(
                told.hasLeft ? .leftScope(change.path) : change,
                page.origins[change.path],
                database: interest.database
            )
            encoded[key] = event
            bytes += event
        }
        return bytes + mark
    }
}
