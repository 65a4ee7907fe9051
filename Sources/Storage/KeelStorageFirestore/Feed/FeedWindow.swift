internal import KeelStorageAdapting

/// The latest changes of a stream, divided at the cursors where a reader can continue.
///
/// A reader whose cursor is a mark of the window is served from it, at its own pace.
struct FeedWindow: Sendable {
    enum Answer: Sendable {
        case page(ChangePage)
        /// There are no new changes; the page has the reader's position.
        case nothing(ChangePage)
        /// The window does not contain the changes after the cursor.
        case elsewhere
    }

    private struct Mark {
        let cursor: ChangeCursor
        let isConsistent: Bool
        let time: Timestamp?
        let acknowledged: [String: Int64]
        /// The index of the part that follows, counted from the start of the stream.
        let part: Int
    }

    private static let mostMarks = 64
    private static let mostParts = 64
    private static let mostChanges = 2_000
    private static let maximumBytes = 16 << 20

    private var marks: [Mark]
    private var parts: ArraySlice<ChangePage> = []
    private var changeCount = 0
    private var size = 0
    private var acknowledged: [String: Int64] = [:]

    /// `start` is a consistent point.
    init(start: ChangeCursor) {
        marks = [Mark(cursor: start, isConsistent: true, time: nil, acknowledged: [:], part: 0)]
    }

    /// Adds the changes up to a mark of the stream.
    ///
    /// - Returns: Whether the mark is valid; a stream must not go back.
    mutating func add(_ page: ChangePage) -> Bool {
        let (changes, cursor) = (page.changes, page.next)
        guard let last = marks.last, cursor >= last.cursor else { return false }
        var page = page
        if page.isCaughtUp {
            // A stream names only mutations that are new, and readers skip marks.
            acknowledged.merge(page.acknowledged) { max($0, $1) }
            page.acknowledged = acknowledged
        }
        // A stream repeats its starting point: without news, there is nothing to add.
        if cursor == last.cursor, changes.isEmpty, last.time != nil || page.time == nil,
            !page.isCaughtUp || page.acknowledged == last.acknowledged
        {
            return true
        }
        if !changes.isEmpty {
            parts.append(page)
            changeCount += changes.count
            size += changes.bodySize
        }
        marks.append(
            Mark(
                cursor: cursor,
                isConsistent: page.isCaughtUp,
                time: page.time,
                acknowledged: page.acknowledged,
                part: parts.endIndex
            )
        )
        while parts.count > Self.mostParts || changeCount > Self.mostChanges
            || size > Self.maximumBytes, parts.count > 1
        {
            let changes = parts[parts.startIndex].changes
            changeCount -= changes.count
            size -= changes.bodySize
            // A slice holds on to removed elements until it is copied.
            parts[parts.startIndex].changes = []
            parts.removeFirst()
        }
        if marks.count > Self.mostMarks { marks.removeFirst() }
        return true
    }

    func answer(after cursor: ChangeCursor, limit: Int) -> Answer {
        guard let last = marks.last, let mark = marks.last(where: { $0.cursor == cursor }) else {
            return .elsewhere
        }
        guard mark.part < parts.endIndex else {
            return .nothing(
                ChangePage(
                    changes: [],
                    next: last.cursor,
                    isCaughtUp: last.isConsistent,
                    time: last.time,
                    acknowledged: last.acknowledged
                )
            )
        }
        // A part is indivisible: there is no cursor inside of it.
        guard mark.part >= parts.startIndex, parts[mark.part].changes.count <= limit else {
            return .elsewhere
        }
        return .page(parts[mark.part])
    }
}

extension [ChangePage.Change] {
    var bodySize: Int {
        reduce(0) { size, change in
            guard case .current(let document) = change else { return size }
            return size + document.body.bytes.count
        }
    }
}
