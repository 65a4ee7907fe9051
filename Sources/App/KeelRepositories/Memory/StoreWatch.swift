internal import KeelStorage
internal import Synchronization

/// Follows the changes of a collection, to determine which copies are outdated.
///
/// Its task waits for the changes that the client's listeners share, and ends with the watch.
final class StoreWatch: Sendable {
    private let scope: StoreScope
    private let changes = SeenChanges()
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ scope: StoreScope) { self.scope = scope }

    deinit { task.withLock { $0?.cancel() } }

    var isLive: Bool { changes.isLive }

    /// Whether changes were followed, but no longer are.
    var hasEnded: Bool { !changes.isLive && task.withLock { $0 != nil } }

    var latest: ChangeCursor? { changes.latest }

    /// Whether no change is known since a position.
    ///
    /// During an outage of the change log there may be unknown changes: false unless `evenIfLost`.
    func isCurrent(
        _ document: DocumentPath?,
        since position: ChangeCursor,
        evenIfLost: Bool
    ) -> Bool {
        changes.isCurrent(document, since: position, evenIfLost: evenIfLost)
    }

    /// Starts following; must not be called concurrently.
    ///
    /// - Returns: Whether changes are followed; false without a readable change log.
    func begin() async -> Bool {
        let client = scope.client
        guard client.capabilities.contains(.changeLog) else { return false }
        let subscription = Subscription(.query(DocumentQuery(scope.collection)))
        let id = client.hub.subscribe(subscription)
        var start: ChangeCursor?
        repeat {
            guard let position = try? await scope.position(),
                let isCovered = try? await client.hub.activate(id, at: position)
            else {
                client.hub.unsubscribe(id)
                return false
            }
            // If other listeners are further ahead, they cover a later position.
            if isCovered { start = position }
        } while start == nil
        if let start { changes.begin(at: start) }
        let changes = changes
        let follower = Task {
            defer {
                changes.end()
                client.hub.unsubscribe(id)
            }
            while true {
                switch await subscription.next() {
                case .changes(let documents, let position):
                    changes.note(documents.keys, at: position)
                case .connection: break
                case .reset, .failure, .cancelled: return
                }
                changes.setLost(subscription.isLost)
            }
        }
        task.withLock { $0 = follower }
        return true
    }
}

/// The changed documents of a collection, and the positions of their changes.
private final class SeenChanges: Sendable {
    private struct State {
        /// The position at which following started; nil if nothing is followed.
        var start: ChangeCursor?
        var isLost = false
        var latest: ChangeCursor?
        var byDocument: [DocumentPath: ChangeCursor] = [:]
        /// Before this position, the changed documents are unknown.
        var floor: ChangeCursor?
    }

    /// The maximum number of documents tracked individually.
    private static let capacity = 4_096

    private let state = Mutex(State())

    var isLive: Bool { state.withLock { $0.start != nil } }
    var latest: ChangeCursor? { state.withLock { $0.latest } }

    func begin(at position: ChangeCursor) {
        state.withLock { $0 = State(start: position) }
    }

    func end() { state.withLock { $0 = State() } }

    func setLost(_ isLost: Bool) { state.withLock { $0.isLost = isLost } }

    func note(_ documents: some Collection<DocumentPath>, at position: ChangeCursor) {
        guard !documents.isEmpty else { return }
        state.withLock { state in
            guard state.start != nil else { return }
            state.latest = position
            if state.byDocument.count + documents.count > Self.capacity {
                state.byDocument = [:]
                state.floor = position
            } else {
                for document in documents { state.byDocument[document] = position }
            }
        }
    }

    func isCurrent(
        _ document: DocumentPath?,
        since position: ChangeCursor,
        evenIfLost: Bool
    ) -> Bool {
        state.withLock { state in
            guard evenIfLost || !state.isLost else { return false }
            guard let start = state.start, position >= start else { return false }
            guard let document else { return state.latest.map { position >= $0 } ?? true }
            if let floor = state.floor, position < floor { return false }
            return state.byDocument[document].map { position >= $0 } ?? true
        }
    }
}
