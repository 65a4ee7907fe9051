internal import KeelCore
internal import Synchronization

/// Reads an adapter's change log once for all listeners of a client.
///
/// One task, the pump, waits for changes and puts each into the mailboxes of the listeners that it
/// can concern. It starts with the first listener and is cancelled with the last. What a listener
/// does with a change happens in the listener's own task.
package final class ListenerHub: Sendable {
    package typealias ID = UInt64

    private struct State {
        var nextID: ID = 0
        var subscriptions: [ID: Subscription] = [:]
        var byDocument: [DocumentPath: Set<ID>] = [:]
        var byCollection: [CollectionPath: Set<ID>] = [:]
        var byGroup: [String: Set<ID>] = [:]
        var pump: Task<Void, Never>?
        /// Which pump may still tell something: one that was cancelled can come back with a page.
        var generation: UInt64 = 0
        /// Where the pump began to read: earlier changes never reach the mailboxes.
        var coverage: ChangeCursor?
        /// The last consistent position that the pump has passed on.
        var reached: ChangeCursor?
        /// Listeners with changes that have not been published.
        var staged: Set<ID> = []
        /// Listeners that wait for a position and not only for changes.
        var lagging: Set<ID> = []
    }

    private let adapter: any StorageAdapter
    private let clock: any Clock<Duration>
    private let state = Mutex(State())

    init(adapter: any StorageAdapter, configuration: StorageClient.Configuration) {
        self.adapter = adapter
        clock = configuration.clock
    }

    deinit { state.withLock { $0.pump?.cancel() } }

    /// How many listeners there are.
    package var count: Int { state.withLock { $0.subscriptions.count } }

    // MARK: Coming and going

    /// Opens a mailbox; from now on it gets every change that the pump sees.
    package func subscribe(_ subscription: Subscription) -> ID {
        state.withLock { state in
            state.nextID += 1
            let id = state.nextID
            state.subscriptions[id] = subscription
            switch subscription.interest {
            case .document(let path): state.byDocument[path, default: []].insert(id)
            case .collection(let path): state.byCollection[path, default: []].insert(id)
            case .group(let name): state.byGroup[name, default: []].insert(id)
            }
            return id
        }
    }

    /// Closes a mailbox, and ends the pump with the last one.
    package func unsubscribe(_ id: ID) {
        let pump = state.withLock { state -> Task<Void, Never>? in
            guard let subscription = state.subscriptions.removeValue(forKey: id) else { return nil }
            switch subscription.interest {
            case .document(let path): state.byDocument[path] = state.byDocument[path]?.without(id)
            case .collection(let path):
                state.byCollection[path] = state.byCollection[path]?.without(id)
            case .group(let name): state.byGroup[name] = state.byGroup[name]?.without(id)
            }
            state.staged.remove(id)
            state.lagging.remove(id)
            guard state.subscriptions.isEmpty else { return nil }
            state.generation += 1
            defer { state.pump = nil }
            return state.pump
        }
        pump?.cancel()
    }

    /// Starts the pump, for a listener that has read its first state at `position`.
    ///
    /// - Returns: Whether the mailbox has every change after `position`. If not, another listener
    ///   has started the pump further on, and reading again gives a position that it covers.
    package func activate(at position: ChangeCursor) -> Bool {
        state.withLock { state in
            guard state.pump == nil else { return state.coverage.map { $0 <= position } ?? true }
            state.coverage = position
            state.reached = position
            state.generation += 1
            let generation = state.generation
            let hub: @Sendable () -> ListenerHub? = { [weak self] in self }
            state.pump = Task { await Self.pump(from: position, generation, into: hub) }
            return true
        }
    }

    /// Whether the pump has come to `position`; if not, the listener will be told when it has.
    package func hasReached(_ position: ChangeCursor, for id: ID) -> Bool {
        state.withLock { state in
            if let reached = state.reached, reached >= position { return true }
            state.lagging.insert(id)
            return false
        }
    }

    // MARK: The pump

    /// Reads the change log until the task is cancelled.
    ///
    /// The hub is held only between the waits, so that a client that is let go can go.
    private static func pump(
        from start: ChangeCursor,
        _ generation: UInt64,
        into hub: @Sendable () -> ListenerHub?
    ) async {
        var cursor = start
        var failures = 0
        var generator = SystemRandomNumberGenerator()
        while !Task.isCancelled, let adapter = hub()?.adapter, let clock = hub()?.clock {
            let request = ChangeRequest(
                after: cursor,
                limit: 500,
                mostBytes: 8 << 20,
                waitsUpTo: .seconds(30)
            )
            do throws(StorageError) {
                let page = try await adapter.changes(request)
                hub()?.deliver(page, generation)
                cursor = page.next
                failures = 0
            } catch {
                if error.isCancellation { return }
                if error.code == .cursorExpired, let position = try? await position(of: adapter) {
                    cursor = position
                    hub()?.restart(at: position, generation)
                    continue
                }
                guard error.isTransient || error.code == .cursorExpired else {
                    hub()?.fail(error.during("listen"), generation)
                    return
                }
                failures += 1
                let pause = RetryPolicy.listening.delay(before: failures, using: &generator)
                try? await clock.sleep(for: pause)
            }
        }
    }

    private static func position(
        of adapter: any StorageAdapter
    ) async throws(StorageError) -> ChangeCursor? {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        return try await adapter.read(request).position
    }

    private func deliver(_ page: ChangePage, _ generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            for change in page.changes {
                let collection = change.path.collection
                let interested = [
                    state.byDocument[change.path], state.byCollection[collection],
                    state.byGroup.isEmpty ? nil : state.byGroup[collection.name],
                ]
                for id in interested.lazy.compactMap(\.self).joined() {
                    state.subscriptions[id]?.stage(change)
                    state.staged.insert(id)
                }
            }
            guard page.isCaughtUp else { return }
            state.reached = page.next
            for id in state.staged.union(state.lagging) {
                state.subscriptions[id]?.publish(at: page.next, isFromCache: page.isFromCache)
            }
            state.staged = []
            state.lagging = []
        }
    }

    private func restart(at position: ChangeCursor, _ generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            state.coverage = position
            state.reached = position
            state.staged = []
            state.lagging = []
            for subscription in state.subscriptions.values { subscription.reset() }
        }
    }

    private func fail(_ error: StorageError, _ generation: UInt64) {
        state.withLock { state in
            guard state.generation == generation else { return }
            state.pump = nil
            for subscription in state.subscriptions.values { subscription.fail(error) }
        }
    }
}

extension Set {
    /// The set without an element, or nil if nothing is left.
    fileprivate func without(_ element: Element) -> Set? {
        let rest = subtracting([element])
        return rest.isEmpty ? nil : rest
    }
}
