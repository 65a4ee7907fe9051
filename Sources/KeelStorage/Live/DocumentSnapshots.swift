internal import KeelCore

extension StorageClient {
    /// Listens to one document.
    ///
    /// The first snapshot is the document as it is, or says that there is none; listening goes on
    /// in either case, also when the document is deleted and created again. A reader that is slower
    /// than the changes gets the latest state. Listening ends with the iterating task.
    public func listenToDocument(_ path: DocumentPath) -> DocumentSnapshots {
        DocumentSnapshots(client: self, path: path)
    }
}

/// The snapshots of a document: see ``StorageClient/listenToDocument(_:)``.
public struct DocumentSnapshots: AsyncSequence, Sendable {
    public typealias Element = DocumentSnapshot
    public typealias Failure = StorageError

    let client: StorageClient
    let path: DocumentPath

    public func makeAsyncIterator() -> Iterator { Iterator(client: client, path: path) }

    /// A listener, as long as it is kept.
    public struct Iterator: AsyncIteratorProtocol {
        private let client: StorageClient
        private let path: DocumentPath
        private var listener: DocumentListener?

        init(client: StorageClient, path: DocumentPath) {
            self.client = client
            self.path = path
        }

        /// Waits for the next snapshot; nil when the task is cancelled.
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

/// One listener to a document; its one caller is an iterator.
actor DocumentListener {
    private let client: StorageClient
    private let path: DocumentPath
    private let subscription: Subscription
    private var id: ListenerHub.ID?
    private var current: DocumentSnapshot?
    private var revision = Revision(number: 0)
    private var base: ChangeCursor?
    private var pending: ChangePage.Change?

    init(client: StorageClient, path: DocumentPath) {
        self.client = client
        self.path = path
        subscription = Subscription(.document(path))
    }

    deinit {
        if let id { client.hub.unsubscribe(id) }
    }

    func next() async throws(StorageError) -> DocumentSnapshot? {
        do throws(StorageError) {
            if current == nil {
                if client.capabilities.contains(.changeLog) {
                    id = client.hub.subscribe(subscription)
                }
                return try await load()
            }
            return try await client.capabilities.contains(.changeLog) ? follow() : poll()
        } catch {
            if error.isCancellation { return nil }
            throw error.during("listenToDocument", on: path.string)
        }
    }

    /// Reads the document; nil if it is as it was.
    private func load() async throws(StorageError) -> DocumentSnapshot? {
        while true {
            var request = ReadRequest(.documents([path]))
            request.needsPosition = client.capabilities.contains(.changeLog)
            let result = try await client.read(request, for: "listenToDocument")
            guard case .documents(let documents) = result.payload else { return nil }
            if let position = result.position, !client.hub.activate(at: position) { continue }
            base = result.position
            return take(documents.first ?? nil, isFromCache: result.isFromCache)
        }
    }

    private func take(_ document: Document?, isFromCache: Bool) -> DocumentSnapshot? {
        let snapshot = DocumentSnapshot(path: path, document: document, isFromCache: isFromCache)
        guard snapshot != current else { return nil }
        current = snapshot
        if let document { revision = document.revision }
        return snapshot
    }

    private func follow() async throws(StorageError) -> DocumentSnapshot? {
        while true {
            switch await subscription.next() {
            case .cancelled: return nil
            case .failure(let error): throw error
            case .reset:
                pending = nil
                if let snapshot = try await load() { return snapshot }
            case .changes(let changes, let position, let isFromCache):
                pending = changes[path] ?? pending
                if let base, position < base {
                    guard let id, client.hub.hasReached(base, for: id) else { continue }
                }
                defer { pending = nil }
                if let snapshot = apply(pending, isFromCache: isFromCache) { return snapshot }
            }
        }
    }

    private func apply(
        _ change: ChangePage.Change?,
        isFromCache: Bool
    ) -> DocumentSnapshot? {
        switch change {
        case .current(let document)? where document.revision >= revision:
            return take(document, isFromCache: isFromCache)
        case .removed(_, let removed)? where removed > revision:
            revision = removed
            return take(nil, isFromCache: isFromCache)
        case .leftScope?: return take(nil, isFromCache: isFromCache)
        default: return nil
        }
    }

    /// For adapters without a change log: asks again at intervals and compares.
    private func poll() async throws(StorageError) -> DocumentSnapshot? {
        while true {
            let interval = client.configuration.pollInterval
            guard (try? await client.configuration.clock.sleep(for: interval)) != nil else {
                return nil
            }
            // What is past stays as it was, also once the history has forgotten it.
            if client.isOfThePast { continue }
            if let snapshot = try await load() { return snapshot }
        }
    }
}
