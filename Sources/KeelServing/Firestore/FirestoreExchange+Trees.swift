import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `runQuery` over all collections at once.
    ///
    /// Stores have no order of names over several collections; what all documents are called tells.
    /// That reads the whole store, and keeps the names that are wanted.
    func runTreeQuery(_ query: TreeQuery) async throws(StorageError) -> [UInt8] {
        guard case .current = try snapshot() else {
            throw StorageError(
                .unsupported,
                "a query over all collections is not available in a transaction"
            )
        }
        var names: Set<DocumentPath> = []
        try await surveyNames(for: "a query over all collections") { path in
            if query.contains(path), isVisible(path) { names.insert(path) }
        }
        let page = names.sorted(by: query.precedes).dropFirst(query.offset).prefix(
            query.limit ?? .max
        )
        let (documents, result) = try await documents(Array(page))
        let time = readTime(of: documents.lazy.compactMap(\.self))
        var reply = ReplyList(first: nil, last: addition(result))
        // One that was deleted meanwhile is not there any more.
        for case let document? in documents {
            try reply.append("document", at: time) { bytes throws(StorageError) in
                try append(document, query.projection, to: &bytes)
            }
        }
        return reply.finish(at: time)
    }

    private func isVisible(_ path: DocumentPath) -> Bool {
        do throws(StorageError) {
            try reserved.check(path)
            return true
        } catch {
            return false
        }
    }

    /// Tells the name of each document of the store.
    ///
    /// - Parameters:
    ///   - purpose: What for, for the message where the store has no change log.
    ///   - visit: Gets the names, in no order; one that changes meanwhile may come twice.
    /// - Throws: What the store throws, and `unsupported` where it has no change log.
    func surveyNames(
        for purpose: String,
        _ visit: (DocumentPath) -> Void
    ) async throws(StorageError) {
        try require(.changeLog, for: purpose)
        var request = ChangeRequest(limit: 1000)
        while true {
            let page = try await adapter.changes(request)
            for case .current(let document) in page.changes { visit(document.path) }
            guard !page.isCaughtUp, page.next != request.after else { return }
            request.after = page.next
        }
    }
}
