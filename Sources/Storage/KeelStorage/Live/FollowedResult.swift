internal import KeelDocuments
internal import KeelStorageAdapting

/// A result that an adapter with `StorageCapabilities/queryChanges` follows for one listener.
struct FollowedResult: Sendable {
    enum News: Sendable {
        /// The whole result; documents that it does not name are not in it.
        case whole([ChangePage.Change])
        /// The changes since the last state; none if only an outage has ended.
        case changes([ChangePage.Change])
        /// The store cannot be reached.
        case outage
    }

    private var request: ChangeRequest
    private var outage = ListenerOutage()
    private var isLost = false
    private var isWhole = true
    private var changes: [ChangePage.Change] = []
    private static let patience = Duration.seconds(30)

    init(_ request: ChangeRequest) {
        self.request = request
        // The adapter itself waits before it asks its server again, and an answer shows at once that it could.
        outage.maximumPause = .seconds(1)
    }

    /// Waits for news; returns nil if the adapter cannot follow the result for now, so that it must be polled.
    mutating func next(
        _ client: StorageClient,
        for name: String
    ) async throws(StorageError) -> News? {
        while true {
            // After an outage, an answer without delay shows that the state is current again.
            request.waitTimeout = request.after == nil || isLost ? nil : Self.patience
            let page: ChangePage
            do throws(StorageError) {
                let attempted = try await client.changesForListener(request, &outage, for: name)
                guard let attempted else {
                    isLost = true
                    return .outage
                }
                page = attempted
            } catch {
                (request.after, isWhole, changes) = (nil, true, [])
                switch error.code {
                case .cursorExpired: continue
                case .unsupported: return nil
                default: throw error
                }
            }
            request.after = page.next
            changes += page.changes
            guard page.isCaughtUp, isWhole || isLost || !changes.isEmpty else { continue }
            defer { (isWhole, isLost, changes) = (false, false, []) }
            return isWhole ? .whole(changes) : .changes(changes)
        }
    }
}

/// The result of a query that an adapter follows.
///
/// Of a limited query, no documents beyond the limit are known here.
struct FollowedQuery: Sendable {
    private let query: DocumentQuery
    private var result: FollowedResult
    private var members: [DocumentPath: ChangePage.Change]?
    /// The number of documents beyond the limit, in place of unreadable ones.
    private var surplus = 0

    init(_ query: DocumentQuery) {
        self.query = query
        result = FollowedResult(ChangeRequest(followingResultOf: query))
        let isWindowed = query.limit != nil || query.offset > 0 || query.search != nil
        members = isWindowed ? [:] : nil
    }

    mutating func next(_ client: StorageClient) async throws(StorageError) -> FollowedResult.News? {
        try await result.next(client, for: "listen")
    }

    /// Applies news to the view of a listener.
    ///
    /// - Returns: The steps from the view's last state; nil if more documents must be followed first.
    mutating func apply(
        _ news: FollowedResult.News,
        to view: inout QueryView
    ) -> [DocumentChange]? {
        switch news {
        case .whole(let changes):
            if members != nil { members = [:] }
            return load(changes, into: &view)
        case .changes(let changes):
            guard members == nil else { return load(changes, into: &view) }
            guard case .changed(let steps) = view.apply(changes) else { return [] }
            return steps
        case .outage: return []
        }
    }

    private mutating func load(
        _ changes: [ChangePage.Change],
        into view: inout QueryView
    ) -> [DocumentChange]? {
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
        if let limit = query.limit, failures.count > surplus {
            surplus = failures.count
            result = FollowedResult(ChangeRequest(followingResultOf: query(upTo: limit)))
            return nil
        }
        return view.load(documents, unreadable: failures, isWindow: true)
    }

    private func query(upTo limit: DocumentQuery.Limit) -> DocumentQuery {
        query.with { query in
            switch limit {
            case .first(let count): query.limit = .first(count + surplus)
            case .last(let count): query.limit = .last(count + surplus)
            }
        }
    }
}
