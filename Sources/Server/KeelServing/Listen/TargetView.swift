internal import KeelStorage
internal import KeelStorageAdapting

/// The documents of a target that its client has, if later changes need them.
///
/// - For single documents, nothing is kept.
/// - For a query without a limit, the paths of its documents are kept. They are unknown after a resumption, until the
///   store has returned them, and if they were too many (``forget()``).
/// - For a query with a limit, an offset or a search, the documents in the result and some after them are kept
///   (`QueryView`).
struct TargetView {
    enum Step: Sendable {
        case has(Document)
        /// The client drops the document if it has it; `at` is the time of the deletion.
        case drops(DocumentPath, isDeleted: Bool, at: Timestamp? = nil)

        var path: DocumentPath {
            switch self {
            case .has(let document): document.path
            case .drops(let path, _, _): path
            }
        }
    }

    /// The maximum number of documents of a resumed target whose names are read, and of those that it does not have.
    static let mostNames = 10_000

    private let documents: Set<DocumentPath>
    private let query: PreparedQuery?
    private var window: QueryView?
    /// The documents that the client has; if these are unknown, some that it does not have.
    private var paths: Set<DocumentPath> = []
    private var isKnown = true
    /// Whether the documents were too many, so that their names are not read.
    private var hasForgotten = false
    /// The documents that have entered the result since the store was asked for names.
    private var arrived: Set<DocumentPath>?
    private var loading: Loading?

    private struct Loading {
        /// The documents of an earlier read that have not been found again.
        var former: Set<DocumentPath>
        /// The documents whose changes are newer than the read.
        var changed: Set<DocumentPath> = []
    }

    init(_ content: ListenTarget.Content) {
        switch content {
        case .documents(let paths): (documents, query) = (Set(paths), nil)
        case .query(let whole):
            (documents, query) = ([], PreparedQuery(whole))
            if whole.limit != nil || whole.offset > 0 || whole.search != nil {
                window = QueryView(whole)
            }
        }
    }

    var bytes: Int { window?.bytes ?? 0 }

    /// Whether the query has a limit, an offset or a search, so that a change can make a read necessary.
    var isWindow: Bool { window != nil }

    var nameCount: Int { isKnown ? paths.count : arrived?.count ?? 0 }

    /// A condition by which a hub finds the target's changes, and the documents of the client.
    var equality: (TargetIndex.Equality, Set<DocumentPath>)? {
        guard isKnown, window == nil, let query = query?.query else { return nil }
        return TargetIndex.Equality(query).map { ($0, paths) }
    }

    var read: ReadOperation {
        if let window { return .query(window.readQuery) }
        guard let query else { return .documents(documents.sorted()) }
        return .query(query.query.with { $0.projection = nil })
    }

    var result: ReadOperation? { (query?.query).map { .query($0.with { $0.projection = [] }) } }

    var count: ReadOperation? {
        (query?.query).map { .aggregate($0.with { $0.projection = nil }, [.count()]) }
    }

    /// The query for the names of the client's documents, up to one more than ``mostNames``; nil if they are known, or
    /// not needed.
    var names: ReadOperation? {
        guard !isKnown, !hasForgotten, window == nil, let query = query?.query else { return nil }
        // Of a whole collection, every document matches while it exists.
        let isWhole =
            query.filter == nil && query.orders.isEmpty && query.start == nil && query.end == nil
        guard !isWhole else { return nil }
        return .query(
            query.with { query in
                query.projection = []
                query.limit = .first(Self.mostNames + 1)
            }
        )
    }

    var needsReset: Bool { !isKnown && query != nil }

    mutating func resume() { isKnown = false }

    /// Forgets which documents the client has, also while they are loaded.
    ///
    /// The client then receives changes of documents that do not match, as after a resumption.
    mutating func forget() { (paths, isKnown, hasForgotten, arrived) = ([], false, true, nil) }

    mutating func awaitNames() { arrived = [] }

    /// Learns the names of the client's documents, at a consistent point after their read.
    ///
    /// - Parameter names: The paths; nil if they cannot be read.
    mutating func learn(_ names: [DocumentPath]?) {
        defer { arrived = nil }
        guard !isKnown, let names, names.count <= Self.mostNames, let arrived else { return }
        (paths, isKnown) = (arrived.union(names), true)
    }

    /// Makes ``read`` read further if unreadable documents have taken the places of others.
    ///
    /// - Returns: Whether to read again before the result is loaded; see `QueryView`.
    mutating func readsFurther(than count: Int, unreadable failures: Int) -> Bool {
        window?.readsFurther(than: count, unreadable: failures) ?? false
    }

    /// Loads a complete read; `unreadable` are documents that exist.
    ///
    /// - Returns: The steps from the documents that the client has; after a reset, it has none.
    mutating func load(_ found: [Document], unreadable: [UnreadableDocument] = []) -> [Step] {
        guard window != nil || query == nil else {
            beginParts()
            let steps = loadPart(found)
            return endParts() + steps
        }
        defer { (isKnown, arrived) = (true, nil) }
        guard let query else {
            let missing = documents.subtracting(found.map(\.path))
            let damaged = Set(unreadable.map(\.path))
            return found.map(Step.has)
                + missing.sorted().map { .drops($0, isDeleted: !damaged.contains($0)) }
        }
        if !isKnown { window = QueryView(query.query) }
        return window?.load(found, unreadable: unreadable).map(Self.step) ?? []
    }

    /// Begins to load a complete read whose documents arrive in parts, with changes between them.
    mutating func beginParts() {
        let former = isKnown ? paths.union(loading?.former ?? []) : []
        loading = Loading(former: former)
        (paths, isKnown, hasForgotten, arrived) = ([], true, false, nil)
    }

    /// Loads a part of a complete read, without documents whose later states have been applied.
    mutating func loadPart(_ found: [Document]) -> [Step] {
        let current = found.filter { loading?.changed.contains($0.path) != true }
        for document in current {
            if isKnown { paths.insert(document.path) }
            loading?.former.remove(document.path)
        }
        return current.map(Step.has)
    }

    /// Drops the client's earlier documents that a complete read has not found.
    mutating func endParts() -> [Step] {
        defer { loading = nil }
        return (loading?.former ?? []).sorted().map { .drops($0, isDeleted: false) }
    }

    /// Applies the changes of a page; returns the steps, or nil if the query must be read again.
    mutating func apply(_ changes: [ChangePage.Change]) -> [Step]? {
        guard let query else {
            return changes.filter { documents.contains($0.path) }.map(Self.step)
        }
        guard window != nil else { return changes.compactMap { step($0, in: query) } }
        guard isKnown else {
            return changes.contains { query.covers($0.path.collection) } ? nil : []
        }
        switch window?.apply(changes) {
        case .needsRead: return nil
        case .changed(let steps): return steps.map(Self.step)
        case .unchanged, nil: return []
        }
    }

    /// Returns the documents of the window that changes concern, unless a change has a later state.
    ///
    /// Otherwise the client would keep an earlier state that another target has sent meanwhile.
    func repeated(_ changes: [ChangePage.Change]) -> [Step] {
        guard isKnown, let window else { return [] }
        return changes.compactMap { change in
            guard let document = window.document(at: change.path) else { return nil }
            let time: Timestamp? =
                switch change {
                case .current(let document): document.updateTime
                case .removed(_, _, let time): time
                case .leftScope, .unreadable: nil
                }
            if let time, document.updateTime < time { return nil }
            return .has(document)
        }
    }

    private mutating func step(_ change: ChangePage.Change, in query: PreparedQuery) -> Step? {
        let path = change.path
        guard query.covers(path.collection) else { return nil }
        loading?.changed.insert(path)
        let wasFormer = loading?.former.remove(path) != nil
        if case .current(let document) = change, query.place(of: document) != nil {
            if isKnown {
                paths.insert(path)
            } else {
                paths.remove(path)
                arrived?.insert(path)
            }
            return .has(document)
        }
        let mayHaveIt = isKnown ? paths.remove(path) != nil : noteAbsence(of: path)
        guard mayHaveIt || wasFormer else { return nil }
        if case .removed(_, _, let time) = change {
            return .drops(path, isDeleted: true, at: time)
        }
        return .drops(path, isDeleted: false)
    }

    /// Records that the client no longer has a document; returns whether it may have had it.
    private mutating func noteAbsence(of path: DocumentPath) -> Bool {
        // Clients ignore a repeated removal.
        if paths.count >= Self.mostNames { paths = [] }
        return paths.insert(path).inserted
    }

    private static func step(_ change: ChangePage.Change) -> Step {
        switch change {
        case .current(let document): .has(document)
        case .removed(let path, _, let time): .drops(path, isDeleted: true, at: time)
        // A document that cannot be read is not shown.
        case .leftScope, .unreadable: .drops(change.path, isDeleted: false)
        }
    }

    private static func step(_ change: DocumentChange) -> Step {
        if case .removed = change.kind { return .drops(change.document.path, isDeleted: false) }
        return .has(change.document)
    }
}

extension ReadOperation {
    /// The query, if its documents may arrive in parts, because its target needs only their paths later.
    var queryInParts: DocumentQuery? {
        guard case .query(let query) = self, query.limit == nil, query.offset == 0,
            query.search == nil, query.projection == nil
        else { return nil }
        return query
    }
}
