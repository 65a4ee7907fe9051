internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelToolSupport

extension DocumentCopy {
    /// The documents of the last page of the change log.
    struct LastPage {
        /// The maximum number of times that the end of the log is read because of them.
        static let mostReadings = 1_000

        /// The written documents; nil if the page did not reach the end of the log.
        var paths: Set<DocumentPath>?
        var readings = 0

        /// Returns whether the copy can end before a page, which reaches the end of the log, and has none of these
        /// documents or came after too many readings.
        func isFollowed(by page: ChangePage) -> Bool {
            guard let paths, page.isCaughtUp else { return false }
            return readings >= Self.mostReadings
                || !page.changes.contains { paths.contains($0.path) }
        }
    }

    /// Copies a page of the change log.
    ///
    /// The states of a page may be outdated when they are written; the changes after it have the later ones.
    func copyChanges(
        _ state: inout CopyCheckpoint,
        after last: inout LastPage
    ) async throws(StorageError) {
        let page = try await source.changes(request(state))
        guard !last.isFollowed(by: page) else {
            state.isRead = true
            return
        }
        var writes: [DocumentWrite] = []
        for change in page.changes where !change.path.isKeelsOwn {
            switch change {
            case .current(let document):
                if let write = write(document, &state) { writes.append(write) }
            // The target keeps its state of the document: it may be the only readable one.
            case .unreadable(let document): state.note(document)
            // The document may never have been copied; deleting an absent document does no harm.
            case .removed(let path, _, _), .leftScope(let path):
                writes.append(.delete(path))
                state.unreadable[path.string] = nil
            }
        }
        try await commit(writes)
        state.cursor = page.next.bytes
        last.paths = page.isCaughtUp ? Set(writes.map(\.path)) : nil
        last.readings += page.isCaughtUp ? 1 : 0
    }

    /// Allows the source to trim its change log again.
    func leave(_ state: CopyCheckpoint) async throws(StorageError) {
        var request = request(state)
        request.reader?.lifetime = .zero
        request.limit = 1
        _ = try await source.changes(request)
    }

    /// Returns the request for the next page, which registers the copy as a reader: the source keeps its log for a week
    /// after the last request.
    private func request(_ state: CopyCheckpoint) -> ChangeRequest {
        var request = ChangeRequest(
            after: state.cursor.map(ChangeCursor.init(bytes:)),
            scope: collections.isEmpty ? .everything : .collections(Set(collections)),
            limit: pageSize
        )
        request.reader = ChangeReader(
            "keel.copy." + (state.reader ?? Self.name(of: state.subject))
        )
        return request
    }

    /// Copies a page of the next collection, and adds the collections below its documents.
    func copyCollection(_ state: inout CopyCheckpoint) async throws(StorageError) {
        let client = StorageClient(source)
        if state.open == nil {
            let all =
                collections.isEmpty
                ? try await client.collections().map { CollectionPath($0) }
                : collections
            state.open = all.map { CopyCheckpoint.Open(collection: $0.string) }
        }
        guard let current = state.open?.popLast() else {
            state.isRead = true
            return
        }
        let collection = CollectionPath(current.collection)
        var pages = DocumentPages(
            client,
            .collection(collection),
            after: current.after.map(collection.document),
            size: pageSize
        )
        guard let page = try await pages.next() else { return }
        // Several pages may report the same document.
        let unreadable = page.unreadable.filter { state.unreadable[$0.path.string] == nil }
        for document in unreadable { state.note(document) }
        try await commit(page.documents.compactMap { write($0, &state) })
        if let last = page.documents.last {
            state.open?.append(CopyCheckpoint.Open(collection: current.collection, after: last.id))
        }
        guard collections.isEmpty else { return }
        for path in page.documents.map(\.path) + unreadable.map(\.path) {
            for name in try await client.collections(under: path) {
                let below = path.collection(name)
                state.open?.append(CopyCheckpoint.Open(collection: below.string))
            }
        }
    }

    /// Returns the write that copies a document; nil for a document that cannot be decoded, which is recorded.
    private func write(_ document: Document, _ state: inout CopyCheckpoint) -> DocumentWrite? {
        do throws(StorageError) {
            _ = try document.fields()
        } catch {
            state.note(UnreadableDocument(document.path, error))
            return nil
        }
        state.names.insert(document.path.collection.name)
        state.unreadable[document.path.string] = nil
        state.copied += 1
        let operation: DocumentWrite.Operation =
            keepsTimes ? .replicate(document) : .set(document.body)
        return DocumentWrite(document.path, operation)
    }

    /// Commits writes in batches small enough for a server.
    private func commit(_ writes: [DocumentWrite]) async throws(StorageError) {
        var batch: [DocumentWrite] = []
        var size = 0
        for write in writes {
            batch.append(write)
            switch write.operation {
            case .replicate(let document): size += document.body.bytes.count
            case .set(let body, _): size += body.bytes.count
            default: break
            }
            guard size >= Self.longestBatch else { continue }
            try await commitBatch(batch)
            (batch, size) = ([], 0)
        }
        try await commitBatch(batch)
    }

    private func commitBatch(_ writes: [DocumentWrite]) async throws(StorageError) {
        guard !writes.isEmpty else { return }
        for result in try await target.commit([WriteBatch(writes)]) { _ = try result.get() }
    }
}

extension CopyCheckpoint {
    fileprivate mutating func note(_ document: UnreadableDocument) {
        unreadable[document.path.string] = ToolError(describing: document.error).message
    }
}
