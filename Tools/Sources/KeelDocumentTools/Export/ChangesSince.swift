internal import KeelStorage
internal import KeelStorageAdapting

/// The documents of a scope that changed after a position of the change log, as they are now.
struct ChangesSince {
    /// The documents by path; those that are gone have none.
    private(set) var documents: [DocumentPath: Document?] = [:]
    /// Those that changed and cannot be read now.
    private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]

    /// Reads the change log to a consistent point.
    ///
    /// - Throws: `StorageError`, with the code `cursorExpired` where the log forgot too much.
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
