internal import KeelStorage
internal import KeelStorageAdapting

/// The documents of a scope that changed after a position of the change log, in their current state.
struct ChangesSince {
    /// The documents by path; nil for deleted documents.
    private(set) var documents: [DocumentPath: Document?] = [:]
    /// The changed documents that cannot be read.
    private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]

    /// Reads the change log up to a checkpoint.
    ///
    /// - Throws: `StorageError`, with the code `cursorExpired` if the log no longer reaches back to the position.
    init(
        _ start: ChangeCursor,
        in scope: DocumentScope,
        of adapter: any StorageAdapter
    ) async throws(StorageError) {
        var request = ChangeRequest(after: start, scope: scope.changes)
        while true {
            let page = try await adapter.changes(request)
            for change in page.changes where scope.contains(change.path) {
                unreadable[change.path] = nil
                switch change {
                case .current(let document): documents.updateValue(document, forKey: change.path)
                case .removed(let path, _, _), .leftScope(let path):
                    documents.updateValue(nil, forKey: path)
                case .unreadable(let document): unreadable[document.path] = document
                }
            }
            request.after = page.next
            if page.isCaughtUp { return }
        }
    }
}
