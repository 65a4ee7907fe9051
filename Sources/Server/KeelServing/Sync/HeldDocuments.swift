internal import KeelStorage
internal import KeelStorageAdapting

/// The documents of a scope's queries that a reader of the scope may have.
///
/// A change that takes a document out of a result concerns only readers that may have the document. The documents are
/// read once, in the background; until then, every change in the queries' collections is sent.
///
/// Changes of documents with states that the log's pages have skipped are sent, too, because a reader may have seen
/// these states.
struct HeldDocuments {
    private enum Phase {
        case unknown
        case requested
        /// Documents that match from this position on are collected, while the result is read.
        case reading(from: ChangeCursor)
        /// The result has been read up to this position, which the pages of the log have not reached.
        case read(upTo: ChangeCursor)
        case known
        /// There are too many documents, or they cannot be read.
        case refused
    }

    private(set) var paths: Set<DocumentPath> = []
    private var phase = Phase.unknown

    var isKnown: Bool { if case .known = phase { true } else { false } }

    var isAhead: Bool { if case .read = phase { true } else { false } }

    private var isCollecting: Bool {
        switch phase {
        case .unknown, .requested, .refused: false
        case .reading, .read, .known: true
        }
    }

    // MARK: The result

    /// Requests the documents; returns false after the first call.
    mutating func request() -> Bool {
        guard case .unknown = phase else { return false }
        phase = .requested
        return true
    }

    /// Begins to collect documents, before the result is read; returns false if none are requested.
    mutating func begin(from position: ChangeCursor) -> Bool {
        guard case .requested = phase else { return false }
        phase = .reading(from: position)
        return true
    }

    mutating func add(_ names: Set<DocumentPath>, from first: ChangeCursor, to last: ChangeCursor) {
        guard case .reading(let start) = phase else { return }
        // A replica may be behind the position from which documents were collected.
        guard start <= first else { return refuse() }
        paths.formUnion(names)
        phase = .read(upTo: last)
    }

    mutating func reach(_ position: ChangeCursor) {
        if case .read(let last) = phase, last <= position { phase = .known }
    }

    mutating func refuse() { (phase, paths) = (.refused, []) }

    // MARK: Changes

    /// Records a change that concerns a query, and returns whether a reader receives it.
    ///
    /// `mayHaveMatched` is whether the document may have matched in a state that no page has shown.
    mutating func tells(_ change: ChangePage.Change, mayHaveMatched: Bool) -> Bool {
        switch change {
        case .current, .unreadable:
            if isCollecting { paths.insert(change.path) }
            return true
        case .removed, .leftScope:
            guard isKnown else { return true }
            return paths.remove(change.path) != nil || mayHaveMatched
        }
    }
}
