internal import KeelStorageAdapting

/// The last changes that a stream has told, cut where a reader can go on.
///
/// It is a pure value. Any number of readers share it: one whose cursor is a mark of the window is
/// served from it, at its own pace.
struct FeedWindow: Sendable {
    /// What a reader at a cursor gets.
    enum Answer: Sendable {
        case page(ChangePage)
        /// Nothing yet; the page says where the reader stands.
        case nothing(ChangePage)
        /// The window does not have what follows the cursor.
        case elsewhere
    }

    private struct Mark {
        let cursor: ChangeCursor
        let isConsistent: Bool
        let time: Timestamp?
        let acknowledged: [String: Int64]
        /// Which part follows, counted from the first that the stream has told.
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

    /// Creates the window of a stream that begins at a consistent point.
    init(start: ChangeCursor) {
        marks = [Mark(cursor: start, isConsistent: true, time: nil, acknowledged: [:], part: 0)]
    }

    /// Adds what came up to a mark of the stream.
    ///
    /// - Returns: Whether it may follow; a stream does not go back.
    mutating func add(_ page: ChangePage) -> Bool {
        let (changes, cursor) = (page.changes, page.next)
        guard let last = marks.last, cursor >= last.cursor else { return false }
        // The same point once more, as a stream begins; or changes without a step.
        if cursor == last.cursor, changes.isEmpty, last.time != nil || page.time == nil {
            return true
        }
        if !changes.isEmpty {
            parts.append(page)
            changeCount += changes.count
            size += Self.size(of: changes)
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
            let changes = parts.removeFirst().changes
            changeCount -= changes.count
            size -= Self.size(of: changes)
        }
        if marks.count > Self.mostMarks { marks.removeFirst() }
        return true
    }

    /// How many bytes the documents of changes have.
    private static func size(of changes: [ChangePage.Change]) -> Int {
        changes.reduce(0) { size, change in
            guard case .current(let document) = change else { return size }
            return size + document.body.bytes.count
        }
    }

    /// What follows a cursor.
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
        // A part cannot be cut: there is no cursor inside of it.
        guard mark.part >= parts.startIndex, parts[mark.part].changes.count <= limit else {
            return .elsewhere
        }
        return .page(parts[mark.part])
    }
}
