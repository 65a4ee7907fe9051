public import KeelDocuments

/// A request for the changes after a position.
public struct ChangeRequest: Sendable, Hashable {
    /// The position to start after; nil for the start of the change log.
    ///
    /// With nil, the pages contain the current state of every document in scope. After a consistent point, the scope
    /// may change from page to page; a copy must use one scope from start to end.
    public var after: ChangeCursor?
    /// The documents whose changes are requested.
    public var scope: ChangeScope
    /// The query whose result is followed; nil to follow ``scope``.
    ///
    /// Needs `StorageCapabilities/queryChanges`; an adapter with it and without a change log accepts, besides queries,
    /// only scopes of single documents. The pages contain the documents that are in the result and those that left it:
    ///
    /// - Starting from nil, the pages contain the whole result, with the query's limit, offset and bounds applied.
    /// - After a cursor, they contain the documents that have entered the result or changed in it, as
    ///   ``ChangePage/Change/current(_:)``, and those that have left it, as ``ChangePage/Change/leftScope(_:)`` or
    ///   ``ChangePage/Change/removed(_:_:at:)``. They can repeat documents, and name documents that were never in the
    ///   result.
    /// - Every page is a consistent state, whatever its size: ``limit`` and ``maximumBytes`` do not apply.
    /// - Documents are whole: the query's projection does not apply.
    ///
    /// A cursor belongs to its query: with another query, the request throws `StorageError/Code/invalidArgument`. A
    /// cursor remains valid after a restart, until the adapter throws `StorageError/Code/cursorExpired`. The reader
    /// then starts from nil, and drops the documents that the pages do not contain.
    public var query: DocumentQuery?
    /// The maximum number of changes in one page, at least 1.
    public var limit: Int
    /// The approximate maximum size of the documents in one page, in bytes; nil for no limit.
    ///
    /// The default is 8 MiB. A page ends with the document that reaches the limit. An adapter that does not copy
    /// documents for a page may ignore the limit.
    public var maximumBytes: Int?
    /// The time to wait for a change if there is none; nil to return at once.
    public var waitTimeout: Duration?
    /// The clients whose mutations ``ChangePage/acknowledged`` reports.
    ///
    /// Needs `StorageCapabilities/origins`.
    public var clients: Set<String> = []
    /// The reader for which the store retains the changes after ``after``; nil for none.
    ///
    /// A store that cannot retain changes, such as a read-only store, answers the request anyway.
    public var reader: ChangeReader?

    /// Creates a request.
    public init(
        after: ChangeCursor? = nil,
        scope: ChangeScope = .everything,
        limit: Int = 500,
        maximumBytes: Int? = 8 << 20,
        waitTimeout: Duration? = nil
    ) {
        self.after = after
        self.scope = scope
        self.limit = max(1, limit)
        self.maximumBytes = maximumBytes
        self.waitTimeout = waitTimeout
    }

    /// Creates a request for the changes of a query's result.
    public init(
        after: ChangeCursor? = nil,
        followingResultOf query: DocumentQuery,
        waitTimeout: Duration? = nil
    ) {
        self.init(after: after, scope: .query(query), waitTimeout: waitTimeout)
        self.query = query
    }
}

/// A reader for which a store retains unread changes, such as a copy or a mirror that disconnects for a while.
///
/// The store may replace several unread changes of a document by the last one. SQLite and PostgreSQL stores retain
/// changes for up to 1,000 readers; they answer the requests of further ones, but retain nothing for them.
public struct ChangeReader: Sendable, Hashable {
    /// The reader's name, the same in every request of the reader, at most 100 bytes.
    ///
    /// SQLite and PostgreSQL stores accept up to 1,500 bytes. With a name that is longer than 100 bytes or empty,
    /// `FirestoreStorageAdapter` throws `StorageError/Code/invalidArgument` unless ``lifetime`` is zero.
    public var name: String
    /// The time that the store waits for the reader after its last request; zero releases the reader at once.
    ///
    /// SQLite and PostgreSQL stores wait for at most 90 days, `keel serve` for at most 30. Setting the clock to another
    /// year does not end a reader.
    public var lifetime: Duration

    /// Creates a reader.
    public init(_ name: String, lifetime: Duration = .seconds(7 * 86_400)) {
        self.name = name
        self.lifetime = lifetime
    }
}

/// Changes in the order in which they happened.
///
/// A page holds *states*, not steps: a document that changed three times can appear once, in its state at the time of
/// the read. This state is never older than the document's state in an earlier page. A document's revision decreases
/// between pages only if a `DocumentWrite/Operation/replicate(_:)` lowered it. If ``isCaughtUp`` is true, the changes
/// delivered so far form a consistent state of the store.
public struct ChangePage: Sendable {
    /// A change to one document.
    public enum Change: Sendable, Hashable {
        /// The document's current state.
        case current(Document)
        /// The document was removed, at the given time if the adapter knows it.
        ///
        /// The time is a time of the document, like `Document/updateTime`: later than the document's last update, and
        /// earlier than the times of a document created again at the path.
        case removed(DocumentPath, Revision, at: Timestamp? = nil)
        /// The document changed and does not match the conditions of the scope.
        ///
        /// It may have matched them before; a reader that holds the document drops it.
        case leftScope(DocumentPath)
        /// The document changed and cannot be read.
        ///
        /// An adapter throws only if it cannot read the page at all.
        case unreadable(UnreadableDocument)

        /// The path of the document that changed.
        public var path: DocumentPath {
            switch self {
            case .current(let document): document.path
            case .unreadable(let document): document.path
            case .removed(let path, _, _), .leftScope(let path): path
            }
        }
    }

    /// The changes.
    public var changes: [Change]
    /// The position at which the next page starts.
    public var next: ChangeCursor
    /// Whether the changes delivered so far form a consistent state of the store.
    public var isCaughtUp: Bool
    /// The store's time of the consistent state, if ``isCaughtUp`` is true and the adapter knows it.
    ///
    /// It never decreases from page to page: see ``ReadResult/time``.
    public var time: Timestamp?
    /// The origins of the changes, if the adapter has `StorageCapabilities/origins`.
    ///
    /// A state written without an origin has no entry.
    public var origins: [DocumentPath: ChangeOrigin]
    /// The last committed mutation of each of the requested ``ChangeRequest/clients``, if ``isCaughtUp`` is true.
    ///
    /// The changes delivered so far include the effects of all mutations up to these, even if their documents were
    /// overwritten since, are out of scope, or did not change. Clients that the store does not know have no entry.
    public var acknowledged: [String: Int64]
    /// The documents that had states since the last page which no page shows, because later ones have replaced them.
    ///
    /// They need not be in ``changes``: the later state may be in a page that follows. Nil if the adapter does not know
    /// them, or the log has forgotten states. A batch that writes a document twice may count as two states.
    package var skipped: Set<DocumentPath>?

    /// Creates a page.
    public init(
        changes: [Change],
        next: ChangeCursor,
        isCaughtUp: Bool,
        time: Timestamp? = nil,
        origins: [DocumentPath: ChangeOrigin] = [:],
        acknowledged: [String: Int64] = [:]
    ) {
        self.changes = changes
        self.next = next
        self.isCaughtUp = isCaughtUp
        self.time = time
        self.origins = origins
        self.acknowledged = acknowledged
    }
}
