public import KeelDocuments

/// A request for the changes after a position.
public struct ChangeRequest: Sendable, Hashable {
    /// Where to begin; nil begins at the first change that the log still has.
    ///
    /// From nil, the pages bring the current state of every document in scope, so that a copy can
    /// be made from the change log alone. Behind a consistent point the scope may change from page to
    /// page; a copy is made with one scope from its beginning to its end.
    public var after: ChangeCursor?
    /// Which documents are of interest.
    public var scope: ChangeScope
    /// The most changes in one page, at least 1.
    public var limit: Int
    /// About how many bytes of documents one page may have; nil for any number, 8 MiB unless a request
    /// says otherwise.
    ///
    /// A page has at least one change, however large. An adapter that makes no copies of documents for a
    /// page may ignore the limit.
    public var mostBytes: Int?
    /// How long to wait for a change when there is none; nil answers at once.
    public var waitsUpTo: Duration?
    /// Clients whose mutations are to be acknowledged in ``ChangePage/acknowledged``.
    ///
    /// Needs `StorageCapabilities/origins`.
    public var clients: Set<String> = []
    /// Whom the store keeps what follows ``after`` for; nil for nobody.
    ///
    /// A store that cannot, such as one that is only read, answers all the same.
    public var reader: ChangeReader?

    /// Creates a request.
    public init(
        after: ChangeCursor? = nil,
        scope: ChangeScope = .everything,
        limit: Int = 500,
        mostBytes: Int? = 8 << 20,
        waitsUpTo: Duration? = nil
    ) {
        self.after = after
        self.scope = scope
        self.limit = max(1, limit)
        self.mostBytes = mostBytes
        self.waitsUpTo = waitsUpTo
    }
}

/// A reader of changes for whom a store keeps what the reader has not read yet.
///
/// A copy that takes days and a mirror that is away for a while name themselves in their requests.
/// The store may replace several changes of a document by the last one meanwhile.
public struct ChangeReader: Sendable, Hashable {
    /// The reader's name, up to 100 bytes: the same one when it goes on later.
    public var name: String
    /// How long after its last request the store waits for the reader; zero ends it at once.
    ///
    /// A store may wait for a shorter time. A clock that is set to another year ends no reader.
    public var lifetime: Duration

    /// Creates a reader.
    public init(_ name: String, lifetime: Duration = .seconds(7 * 86_400)) {
        self.name = name
        self.lifetime = lifetime
    }
}

/// Changes in the order in which they happened.
///
/// A page holds *states*, not steps: a document that changed three times may appear once, with its
/// state at the time of the read, which is never older than what a page before has shown. Repeating a
/// page does no harm. A document's revision goes back from one page to the next only where a
/// `DocumentWrite/Operation/replicate(_:)` has lowered it. Where ``isCaughtUp`` is true, what has been delivered so
/// far is a consistent state of the store; a listener publishes only there.
public struct ChangePage: Sendable {
    /// A change to one document.
    public enum Change: Sendable, Hashable {
        /// The document is now like this.
        case current(Document)
        /// The document is gone, since the time where the adapter knows it.
        ///
        /// The time is the document's, as `Document/updateTime` is: later than the last one before
        /// it, and earlier than those of a document that is created again.
        case removed(DocumentPath, Revision, at: Timestamp? = nil)
        /// The document changed, exists, and does not meet the conditions of the scope.
        ///
        /// It may have met them before: a reader that has it drops it.
        case leftScope(DocumentPath)
        /// The document changed and cannot be read.
        ///
        /// One damaged document does not keep readers from those behind it: an adapter gives a page
        /// with this in place of the document, and throws only where it can read no page at all.
        case unreadable(UnreadableDocument)

        /// The document that changed.
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
    /// Where the next page begins.
    public var next: ChangeCursor
    /// Whether the changes so far make up a consistent state of the store.
    public var isCaughtUp: Bool
    /// The store's time at the consistent state, where ``isCaughtUp`` is true and the adapter knows it.
    ///
    /// It never goes back from one page to the next: see ``ReadResult/time``.
    public var time: Timestamp?
    /// The origins of the changes that have one, where the adapter keeps `StorageCapabilities/origins`.
    ///
    /// An origin stands here if it is that of the state that the page brings. A state that a write
    /// without an origin has made has none.
    public var origins: [DocumentPath: ChangeOrigin]
    /// The last mutation of each of ``ChangeRequest/clients`` that the store has committed; only where
    /// ``isCaughtUp`` is true.
    ///
    /// What has been delivered so far has the effects of all mutations up to there, also of those whose
    /// documents have been overwritten since, are out of scope, or did not change at all. A client that
    /// the store does not know is missing.
    public var acknowledged: [String: Int64]

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
