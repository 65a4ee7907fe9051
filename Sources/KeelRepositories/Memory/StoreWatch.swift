internal import KeelStorage
internal import Synchronization

/// Follows the changes of one collection, so that it is known what they have made old.
///
/// Its task waits for the changes that the client's listeners share, and ends with the watch.
final class StoreWatch: Sendable {
    private let scope: StoreScope
    private let changes = SeenChanges()
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(_ scope: StoreScope) { self.scope = scope }

    deinit { task.withLock { $0?.cancel() } }

    /// Whether changes are being followed.
    var isLive: Bool { changes.isLive }

    /// Whether they were followed, and are not any more.
    var hasEnded: Bool { !changes.isLive && task.withLock { $0 != nil } }

    /// The state of the last change that was seen in the collection.
    var latest: ChangeCursor? { changes.latest }

    /// Whether nothing has changed since a state, as far as is known.
    func isCurrent(_ document: DocumentPath?, since position: ChangeCursor) -> Bool {
        changes.isCurrent(document, since: position)
    }

    /// Begins to follow; never called twice at once.
    ///
    /// - Returns: Whether changes are followed now: not in a store without a change log, and not
    ///   while it cannot be read.
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
            // Where other listeners are further on, a later state is one that they cover.
            if isCovered { start = position }
        } while start == nil
        if let start { changes.begin(at: start) }
        let changes = changes
        let follower = Task {
            defer {
                changes.end()
                client.hub.unsubscribe(id)
            }
            while case .changes(let documents, let position) = await subscription.next() {
                changes.note(documents.keys, at: position)
            }
        }
        task.withLock { $0 = follower }
        return true
    }
}

/// Which documents of a collection have changed, and up to which state.
private final class SeenChanges: Sendable {
    private struct State {
        /// Where following began; nil while nothing is followed.
        var start: ChangeCursor?
        var latest: ChangeCursor?
        var byDocument: [DocumentPath: ChangeCursor] = [:]
        /// Before this, it is not known any more which document changed.
        var floor: ChangeCursor?
    }

    /// How many documents are told apart.
    private static let capacity = 4_096

    private let state = Mutex(State())

    var isLive: Bool { state.withLock { $0.start != nil } }
    var latest: ChangeCursor? { state.withLock { $0.latest } }

    func begin(at position: ChangeCursor) {
        state.withLock { $0 = State(start: position) }
    }

    func end() { state.withLock { $0 = State() } }

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

    func isCurrent(_ document: DocumentPath?, since position: ChangeCursor) -> Bool {
        state.withLock { state in
            guard let start = state.start, position >= start else { return false }
            guard let document else { return state.latest.map { position >= $0 } ?? true }
            if let floor = state.floor, position < floor { return false }
            return state.byDocument[document].map { position >= $0 } ?? true
        }
    }
}
