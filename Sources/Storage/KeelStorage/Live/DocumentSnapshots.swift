internal import KeelCore
public import KeelDocuments
internal import KeelStorageAdapting

extension StorageClient {
    /// Listens to one document.
    ///
    /// The first snapshot has the current document, if it exists. Listening continues when the document is deleted,
    /// created again or unreadable (``DocumentSnapshot/failure``). The sequence behaves like ``listen(to:)``.
    public func listenToDocument(_ path: DocumentPath) -> DocumentSnapshots {
        DocumentSnapshots(client: self, path: path)
    }
}

/// The snapshots of a document; see ``StorageClient/listenToDocument(_:)``.
public struct DocumentSnapshots: AsyncSequence, Sendable {
    public typealias Element = DocumentSnapshot
    public typealias Failure = StorageError

    let client: StorageClient
    let path: DocumentPath

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, path: path) }

    /// A listener, which lives as long as the iterator.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: StorageClient
        private let path: DocumentPath
        private var listener: DocumentListener?

        init(client: StorageClient, path: DocumentPath) {
            self.client = client
            self.path = path
        }

        /// Waits for the next snapshot; returns nil when the task is canceled.
        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async throws(StorageError) -> DocumentSnapshot? {
            if let listener { return try await listener.next() }
            do throws(StorageError) {
                try DocumentValidation.check(path)
            } catch {
                throw error.during("listenToDocument")
            }
            let listener = DocumentListener(client: client, path: path)
            self.listener = listener
            return try await listener.next()
        }
    }
}

@available(*, unavailable)
extension DocumentSnapshots.Iterator: Sendable {}

actor DocumentListener {
    private let client: StorageClient
    private let path: DocumentPath
    private let subscription: Subscription
    private var id: ListenerHub.ID?
    private var current: DocumentSnapshot?
    private var needsRead = true
    private var outage = ListenerOutage()
    private var followed: FollowedResult?

    init(client: StorageClient, path: DocumentPath) {
        self.client = client
        self.path = path
        subscription = Subscription(.document(path))
        if client.followsResults {
            followed = FollowedResult(ChangeRequest(scope: .documents([path])))
        }
    }

    deinit {
        if let id { client.hub.unsubscribe(id) }
    }

    func next() async throws(StorageError) -> DocumentSnapshot? {
        do throws(StorageError) {
            if client.capabilities.contains(.changeLog) { return try await follow() }
            return try await followed == nil ? poll() : watch()
        } catch {
            if error.isCancellation || Task.isCancelled { return nil }
            throw error.during("listenToDocument", on: path.string)
        }
    }

    private func follow() async throws(StorageError) -> DocumentSnapshot? {
        if id == nil { id = client.hub.subscribe(subscription) }
        while true {
            while needsRead { if let snapshot = try await read() { return snapshot } }
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset: needsRead = true
            case .connection:
                if let snapshot = apply(nil, isFromCache: subscription.isLost) { return snapshot }
            case .changes(let changes, _):
                let isLost = subscription.isLost
                if let snapshot = apply(changes[path], isFromCache: isLost) { return snapshot }
            }
        }
    }

    private func watch() async throws(StorageError) -> DocumentSnapshot? {
        while var followed {
            let news = try await followed.next(client, for: "listenToDocument")
            self.followed = followed
            switch news {
            case .whole(let changes)?:
                // A document that the result does not name does not exist.
                let change = changes.last { $0.path == path } ?? .leftScope(path)
                if let snapshot = apply(change) { return snapshot }
            case .outage?: if let snapshot = apply(nil, isFromCache: true) { return snapshot }
            case .changes(let changes)?:
                if let snapshot = apply(changes.last { $0.path == path }) { return snapshot }
            case nil:
                if let snapshot = try await read() { return snapshot }
                guard await client.waitForPoll() else { return nil }
            }
        }
        return nil
    }

    private func poll() async throws(StorageError) -> DocumentSnapshot? {
        while true {
            while needsRead { if let snapshot = try await read() { return snapshot } }
            guard await client.waitForPoll() else { return nil }
            needsRead = true
        }
    }

    private func read() async throws(StorageError) -> DocumentSnapshot? {
        var outage = outage
        defer { self.outage = outage }
        let attempted = try await client.readForListener(
            .documents([path]),
            id,
            &outage,
            for: "listenToDocument"
        )
        guard let result = attempted else { return apply(nil, isFromCache: true) }
        let documents = try result.documents
        subscription.hold(until: result.position)
        needsRead = false
        return take(documents.first ?? nil, failure: result.unreadable.first)
    }

    private func apply(
        _ change: ChangePage.Change?,
        isFromCache: Bool = false
    ) -> DocumentSnapshot? {
        switch change {
        case .current(let document)?: take(document, isFromCache: isFromCache)
        case .removed?, .leftScope?: take(nil, isFromCache: isFromCache)
        case .unreadable(let document)?: take(nil, failure: document, isFromCache: isFromCache)
        case nil:
            current.flatMap {
                take($0.document, failure: $0.failure, isFromCache: isFromCache)
            }
        }
    }

    private func take(
        _ document: Document?,
        failure: UnreadableDocument? = nil,
        isFromCache: Bool = false
    ) -> DocumentSnapshot? {
        let snapshot = DocumentSnapshot(
            path: path,
            document: document,
            failure: failure,
            isFromCache: isFromCache
        )
        guard snapshot != current else { return nil }
        current = snapshot
        return snapshot
    }
}

/// The state of a document at one moment; there may be none.
public struct DocumentSnapshot: Sendable, Hashable {
    /// The path of the document.
    public let path: DocumentPath
    /// The document; nil if there is none, or if it cannot be read.
    public let document: Document?
    /// The reason why an existing document cannot be read; nil otherwise.
    public let failure: UnreadableDocument?
    /// Whether the store cannot be reached, so that the state may be out of date.
    ///
    /// A snapshot reports the beginning of an outage, and its end.
    public let isFromCache: Bool

    /// Whether there is a document at the path, including one that cannot be read.
    public var exists: Bool { document != nil || failure != nil }
}
