#if SQLite
internal import GRDB
internal import KeelStorage

/// Reads one page of changes in one snapshot.
struct ChangeFeed {
    private struct Row {
        var sequence: Int64
        var collection: Int64
        var id: String
        var revision: Int64
        var isRemoval: Bool
        var mark: Int64
    }

    private let reader: StoreReader
    private let state: StoreState
    private let epoch: UInt64
    private let limit: Int
    /// How large an empty page is.
    private let empty: AnswerSize
    /// The last change of the log.
    private let end: LogPoint
    private let place: ChangePosition.Place
    /// The collections that are wanted; nil is all.
    private let scope: Set<Int64>?

    init(_ request: ChangeRequest, reader: StoreReader, state: StoreState, epoch: UInt64) throws {
        self.reader = reader
        self.state = state
        self.epoch = epoch
        limit = request.limit
        empty = AnswerSize(most: request.mostBytes)
        switch request.scope {
        case .everything: scope = nil
        case .collections(let wanted):
            scope = Set(try wanted.compactMap { try reader.number(of: $0) })
        }
        end = try LogPoint.at(state.sequence, in: reader.database)
        place =
            try request.after.map {
                try ChangePosition.place(of: $0, in: state, reader.database, epoch: epoch)
            } ?? .copy(start: end, row: 0)
    }

    func page() throws -> ChangePage {
        switch (place, scope) {
        case (.copy(let start, row: 0), let scope?):
            try copyPage(of: scope, from: 0, after: "", start: start)
        case (.copy(let start, let row), _): try copyPage(after: row, start: start)
        case (.scopedCopy(let start, let collection, let id), let scope?):
            try copyPage(of: scope, from: collection, after: id, start: start)
        // A reader that wants more than before begins anew.
        case (.scopedCopy, nil): try copyPage(after: 0, start: end)
        case (.log(let point), _): try logPage(after: point.sequence)
        }
    }

    private func page(
        _ changes: [ChangePage.Change],
        next: ChangePosition.Place,
        isCaughtUp: Bool
    ) -> ChangePage {
        ChangePage(
            changes: changes,
            next: ChangePosition(epoch: epoch, next).cursor,
            isCaughtUp: isCaughtUp
        )
    }

    /// Brings documents as they are, for a reader that begins from nothing.
    ///
    /// What changes while the copy is under way is in the log after its start, so that new rows and
    /// even reused row numbers do no harm.
    private func copyPage(after row: Int64, start: LogPoint) throws -> ChangePage {
        let statement = try RawStatement(
            reader.database,
            "SELECT \(StoreReader.columns) FROM documents d WHERE d.rid > ? ORDER BY d.rid"
        )
        try statement.bind(1, row)
        var changes: [ChangePage.Change] = []
        var size = empty
        var last = row
        var isDone = true
        try statement.each { row in
            guard scope?.contains(row.integer(1)) ?? true else { return true }
            guard changes.count < limit, !size.isFull else {
                isDone = false
                return false
            }
            let change = try reader.change(row)
            size.add(change)
            changes.append(change)
            last = row.integer(0)
            return true
        }
        return page(
            changes,
            next: isDone ? .log(start) : .copy(start: start, row: last),
            isCaughtUp: isDone && start == end
        )
    }

    /// Brings the documents of some collections as they are, each collection by identifiers: what
    /// other collections hold is not read.
    private func copyPage(
        of collections: Set<Int64>,
        from first: Int64,
        after id: String,
        start: LogPoint
    ) throws -> ChangePage {
        let statement = try RawStatement(
            reader.database,
            """
            SELECT \(StoreReader.columns) FROM documents d
            WHERE d.cid = ? AND d.id > ? ORDER BY d.id
            """
        )
        var changes: [ChangePage.Change] = []
        var size = empty
        var last = ChangePosition.Place.scopedCopy(start: start, collection: first, id: id)
        var isDone = true
        for collection in collections.sorted() where collection >= first && isDone {
            try statement.bind(1, collection)
            try statement.bind(2, collection == first ? id : "")
            try statement.each { row in
                guard changes.count < limit, !size.isFull else {
                    isDone = false
                    return false
                }
                let change = try reader.change(row)
                size.add(change)
                changes.append(change)
                last = .scopedCopy(start: start, collection: collection, id: row.text(2))
                return true
            }
        }
        return page(
            changes,
            next: isDone ? .log(start) : last,
            isCaughtUp: isDone && start == end
        )
    }

    private func logPage(after sequence: Int64) throws -> ChangePage {
        let (rows, isCaughtUp) = try rows(after: sequence)
        var latest: [DocumentPath: Int] = [:]
        let paths = try rows.map { row in
            DocumentPath(trusted: try reader.path(of: row.collection), id: row.id)
        }
        for (position, path) in paths.enumerated() { latest[path] = position }
        var changes: [ChangePage.Change] = []
        var removals: [DocumentPath: Int] = [:]
        var size = empty
        // The row at which the page is full; what has its last entry behind it comes on a later one.
        var cut: Row?
        for (position, row) in rows.enumerated() where latest[paths[position]] == position {
            guard !size.isFull else { break }
            cut = position < rows.count - 1 ? row : nil
            let path = paths[position]
            if let change = try reader.change(at: path, in: row.collection) {
                size.add(change)
                changes.append(change)
            } else if row.isRemoval {
                removals[path] = changes.count
                changes.append(.removed(path, Revision(number: row.revision)))
            }
            // Otherwise a removal follows on a later page.
        }
        if let last = rows.last, !isCaughtUp, !removals.isEmpty {
            try takeLastRevisions(of: removals, in: &changes, after: last.sequence)
        }
        if size.isFull, let cut {
            return page(
                changes,
                next: .log(LogPoint(cut.sequence, mark: cut.mark)),
                isCaughtUp: false
            )
        }
        let last = isCaughtUp ? nil : rows.last.map { LogPoint($0.sequence, mark: $0.mark) }
        let next = last ?? end
        return page(changes, next: .log(next), isCaughtUp: isCaughtUp)
    }

    /// Gives removals the revision of the last entry of their document, however late it comes.
    ///
    /// A page before may have shown a state later than that of an entry on this page, of a document
    /// that was created again and has been removed since.
    private func takeLastRevisions(
        of removals: [DocumentPath: Int],
        in changes: inout [ChangePage.Change],
        after sequence: Int64
    ) throws {
        // SQLite looks for all of them in one walk along the rest of the log. Few lengths of the
        // list, the last of it repeated, are few statements.
        let ids = removals.keys.map(\.id)
        for start in stride(from: 0, to: ids.count, by: 512) {
            let part = ids[start..<min(start + 512, ids.count)]
            let length = part.count == 1 ? 1 : part.count <= 16 ? 16 : 512
            let list = Array(repeating: "?", count: length).joined(separator: ", ")
            let statement = try RawStatement(
                reader.database,
                """
                SELECT cid, id, max(rev) FROM changes
                WHERE seq > ? AND id IN (\(list)) GROUP BY cid, id
                """
            )
            try statement.bind(1, sequence)
            for number in 0..<length {
                let position = min(start + number, part.endIndex - 1)
                try statement.bind(Int32(number + 2), ids[position])
            }
            try statement.each { row in
                let collection = try reader.path(of: row.integer(0))
                let path = DocumentPath(trusted: collection, id: row.text(1))
                if let position = removals[path] {
                    changes[position] = .removed(path, Revision(number: row.integer(2)))
                }
                return true
            }
        }
    }

    private func rows(after sequence: Int64) throws -> (rows: [Row], isCaughtUp: Bool) {
        let statement = try RawStatement(
            reader.database,
            "SELECT * FROM changes WHERE seq > ? ORDER BY seq"
        )
        try statement.bind(1, sequence)
        var rows: [Row] = []
        var isCaughtUp = true
        try statement.each { row in
            guard scope?.contains(row.integer(1)) ?? true else { return true }
            guard rows.count < limit else {
                isCaughtUp = false
                return false
            }
            rows.append(
                Row(
                    sequence: row.integer(0),
                    collection: row.integer(1),
                    id: row.text(2),
                    revision: row.integer(3),
                    isRemoval: row.integer(4) != 0,
                    mark: LogPoint.mark(row)
                )
            )
            return true
        }
        return (rows, isCaughtUp)
    }
}
#endif
