internal import KeelDocuments
internal import KeelStorageAdapting

/// A result that an adapter with `StorageCapabilities/queryChanges` follows for one listener.
struct FollowedResult: Sendable {
    /// The changes up to a consistent state.
    enum News: Sendable {
        /// The whole result; what it does not name is not in it.
        case whole([ChangePage.Change])
        /// The changes since the last state, at least one.
        case changes([ChangePage.Change])
    }

    private var request: ChangeRequest
    /// The time that an adapter waits for a change.
    private static let patience = Duration.seconds(30)

    /// Creates a result that has not been read; the request names the query or the documents.
    init(_ request: ChangeRequest) { self.request = request }

    /// Makes the next news the whole result.
    mutating func restart() { request.after = nil }

    /// Waits for news.
    ///
    /// - Returns: The news; nil if the adapter cannot follow the result for now, so that it must be polled.
    /// - Throws: An error that a retry cannot fix.
    mutating func next(
        _ client: StorageClient,
        for name: String
    ) async throws(StorageError) -> News? {
        var isWhole = request.after == nil
        var changes: [ChangePage.Change] = []
        while true {
            request.waitTimeout = request.after == nil ? nil : Self.patience
            let page: ChangePage
            do throws(StorageError) {
                page = try await client.changesForListener(request, for: name)
            } catch {
                restart()
                switch error.code {
                case .cursorExpired:
                    (isWhole, changes) = (true, [])
                    continue
                case .unsupported: return nil
                default: throw error
                }
            }
            request.after = page.next
            changes += page.changes
            guard page.isCaughtUp, isWhole || !changes.isEmpty else { continue }
            return isWhole ? .whole(changes) : .changes(changes)
        }
    }
}

/// The result of a query that an adapter follows, in the query's order.
///
/// The adapter decides what is in the result: of a limited query, no documents beyond the limit are known here.
struct FollowedQuery: Sendable {
    private var result: FollowedResult
    private(set) var view: QueryView
    /// The documents of the result and those that cannot be read; nil if the view itself applies changes.
    private var members: [DocumentPath: ChangePage.Change]?

    /// Creates the result of a validated query.
    init(_ query: DocumentQuery) {
        result = FollowedResult(ChangeRequest(followingResultOf: query))
        let isWindowed = query.limit != nil || query.offset > 0 || query.search != nil
        // The adapter has skipped the documents before the offset.
        view = QueryView(query.with { $0.offset = 0 })
        members = isWindowed ? [:] : nil
    }

    /// Continues after a poll with what it found.
    mutating func restart(from view: QueryView) {
        result.restart()
        self.view = view
    }

    /// Waits for a consistent state of the result.
    ///
    /// - Returns: The steps from the last one; nil if the result must be polled for now.
    mutating func next(_ client: StorageClient) async throws(StorageError) -> [DocumentChange]? {
        switch try await result.next(client, for: "listen") {
        case .whole(let changes)?:
            if members != nil { members = [:] }
            return load(changes)
        case .changes(let changes)?:
            guard members == nil else { return load(changes) }
            guard case .changed(let steps) = view.apply(changes) else { return [] }
            return steps
        case nil: return nil
        }
    }

    private mutating func load(_ changes: [ChangePage.Change]) -> [DocumentChange] {
        var known = members ?? [:]
        for change in changes {
            switch change {
            case .current, .unreadable: known[change.path] = change
            case .removed, .leftScope: known[change.path] = nil
            }
        }
        if members != nil { members = known }
        var (documents, failures): ([Document], [UnreadableDocument]) = ([], [])
        for change in known.values {
            switch change {
            case .current(let document): documents.append(document)
            case .unreadable(let document): failures.append(document)
            case .removed, .leftScope: break
            }
        }
        return view.load(documents, unreadable: failures)
    }
}
