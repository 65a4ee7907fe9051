package import KeelDocuments

/// The state of a store at a time, in one snapshot.
package struct StorePast {
    private let store: any StoreSnapshot
    /// In microseconds; images of later commits have the state at this time.
    package let time: Int64

    /// Creates the state at a time.
    ///
    /// - Parameters:
    ///   - time: The time.
    ///   - start: The earliest time, in microseconds, that the store's history reaches; nil without a history.
    ///   - present: The latest time whose state is known.
    ///   - store: The snapshot.
    /// - Throws: `StorageError/Code/unsupported`, `StorageError/Code/snapshotTooOld`, or
    ///   `StorageError/Code/invalidArgument` for a time in the future.
    package init(
        at time: Timestamp,
        since start: Int64?,
        upTo present: Timestamp,
        in store: any StoreSnapshot
    ) throws(StorageError) {
        guard let start else {
            throw StorageError(
                .unsupported,
                "the store keeps no history; set the configuration’s history"
            )
        }
        guard time.microseconds >= start else { throw .snapshotTooOld(time) }
        guard time.mayBeRead(at: present) else { throw .notYet(time, present: present) }
        self.store = store
        self.time = time.microseconds
    }

    func documents(of prepared: PreparedQuery) throws -> PastDocuments {
        var documents = PastDocuments()
        // A place does not decide a text search, so its documents are not cut to the window.
        let window = prepared.query.search == nil ? prepared.window : nil
        // Among everything, few collections have later images.
        let isEverything = if case .everything = prepared.query.scope { true } else { false }
        let collections = isEverything ? nil : try store.collections(of: prepared).map(\.number)
        let sealing = store.sealing
        var last: (number: Int64, path: CollectionPath, isCovered: Bool)?
        try store.eachImage(of: collections, after: time) { row in
            if last?.number != row.collection {
                let path = try store.path(of: row.collection)
                last = (row.collection, path, prepared.covers(path))
            }
            guard let last, last.isCovered else { return true }
            let path = row.path(in: last.path)
            documents.changed.insert(path)
            guard row.body != nil else { return true }
            do throws(StorageError) {
                let document = try row.document(at: path, openedBy: sealing)
                if let key = prepared.place(of: document) {
                    documents.take(document, at: key, within: window)
                }
            } catch {
                documents.unreadable.append(UnreadableDocument(path, error))
            }
            return true
        }
        return documents
    }
}
