import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `runQuery` over all collections at once.
    ///
    /// Stores have no order of names over several collections; what all documents are called tells.
    /// That reads the whole store, once for each so many names that are wanted.
    func runTreeQuery(_ query: TreeQuery) async throws(StorageError) -> ReplyBody {
        let past: Timestamp?
        switch try await snapshot() {
        // Names and documents are read one after the other: at one time, where the store can.
        case .current where adapter.capabilities.contains(.pointInTimeReads):
            past = try await read(.documents([]), needsTime: true).time
        case .current: past = nil
        case .past(let time): past = time
        case .transaction, .newTransaction:
            throw StorageError(
                .unsupported,
                "a query over all collections is not available in a transaction"
            )
        }
        let asked = query.limit.map { query.offset + $0 }
        let wanted = min(asked ?? Self.mostOfTree, Self.mostOfTree)
        var found: [DocumentPath] = []
        var last: DocumentPath?
        var isCut = true
        while isCut, found.count < wanted {
            var first = FirstNames(configuration.mostNames, behind: last, by: query.precedes)
            try await surveyNames(for: "a query over all collections", since: past) { path in
                if query.contains(path), isVisible(path) { first.insert(path) }
            }
            var names = first.result.names
            (last, isCut) = (names.last, first.result.isCut)
            if let past {
                let existing = try await existing(Set(names), asOf: past)
                names.removeAll { !existing.contains($0) }
            }
            found += names
        }
        guard !isCut || asked.map({ found.count >= $0 }) ?? false else {
            throw StorageError(
                .tooLarge,
                "a query over all collections finds more than \(Self.mostOfTree) documents; set a "
                    + "smaller limit, and go on behind the last document"
            )
        }
        let page = found.dropFirst(query.offset).prefix(query.limit ?? .max)
        // One that was deleted meanwhile is not there any more, and not told.
        return try await made(
            by: BatchReply(
                .runQuery,
                with: Array(page),
                query.projection,
                of: self,
                past.map(Snapshot.past) ?? .current
            )
        )
    }

    /// The most documents that a query over all collections finds, those that its offset passes over included.
    private static let mostOfTree = 1_000_000

    private func isVisible(_ path: DocumentPath) -> Bool {
        do throws(StorageError) {
            try reserved.check(path)
            return true
        } catch {
            return false
        }
    }

    /// Those of some names that had a document at a time, nil for the present; not many documents are
    /// held at once.
    func existing(
        _ names: Set<DocumentPath>,
        asOf time: Timestamp?
    ) async throws(StorageError) -> Set<DocumentPath> {
        var existing: Set<DocumentPath> = []
        var rest = names.sorted()[...]
        while !rest.isEmpty {
            let (documents, result) = try await documents(
                Array(rest.prefix(300)),
                asOf: time,
                mostBytes: configuration.pageBytes,
                reportsUnreadable: true
            )
            for case let document? in documents { existing.insert(document.path) }
            for document in result.unreadable { existing.insert(document.path) }
            rest = rest.dropFirst(documents.count)
        }
        return existing
    }

    /// Tells the name of each document of the store.
    ///
    /// - Parameters:
    ///   - purpose: What for, for the message where the store has no change log.
    ///   - time: Where it is given, also names of documents that were there then are told.
    ///   - visit: Gets the names, in no order; one that changes meanwhile may come twice.
    /// - Throws: What the store throws, and `unsupported` where it has no change log.
    func surveyNames(
        for purpose: String,
        since time: Timestamp? = nil,
        _ visit: (DocumentPath) -> Void
    ) async throws(StorageError) {
        try require(.changeLog, for: purpose)
        var past: ChangeCursor?
        if let time {
            var request = ReadRequest(.documents([]))
            (request.asOf, request.needsPosition) = (time, true)
            past = try await adapter.read(request).position
        }
        try await surveyNames(after: nil, includingRemoved: false, visit)
        guard let time, let past else { return }
        do throws(StorageError) {
            try await surveyNames(after: past, includingRemoved: true, visit)
        } catch {
            // The change log can be shorter than the history.
            throw error.code == .cursorExpired ? .snapshotTooOld(time) : error
        }
    }

    private func surveyNames(
        after cursor: ChangeCursor?,
        includingRemoved: Bool,
        _ visit: (DocumentPath) -> Void
    ) async throws(StorageError) {
        var request = ChangeRequest(
            after: cursor,
            limit: 1000,
            mostBytes: configuration.pageBytes
        )
        while true {
            let page = try await adapter.changes(request)
            guard !Task.isCancelled else {
                throw StorageError(.cancelled, "the client has gone")
            }
            for change in page.changes {
                if case .removed = change, !includingRemoved { continue }
                visit(change.path)
            }
            guard !page.isCaughtUp, page.next != request.after else { return }
            request.after = page.next
        }
    }
}
