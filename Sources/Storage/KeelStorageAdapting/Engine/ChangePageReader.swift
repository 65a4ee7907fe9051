#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Reads one page of changes in one snapshot.
struct ChangePageReader {
    private struct Row {
        var sequence: Int64
        var collection: Int64
        var id: String
        var revision: Int64
        var isRemoval: Bool
        var mark: Int64
        var origin: ChangeOrigin?
    }

    private let reader: StoreReader
    private let epoch: UInt64
    private let limit: Int
    /// The size of an empty page.
    private let empty: AnswerSize
    private let state: StoreState
    private let end: LogPoint
    private let place: ChangePosition.Place
    private let scope: FeedScope
    private let clients: Set<String>
    /// The names of clients, by number.
    private var names: [Int64: String] = [:]
    /// Whether the file has the table `removal_times`; nil until it is checked.
    private var hasRemovalTimes: Bool?

    init(_ request: ChangeRequest, reader: StoreReader, state: StoreState, epoch: UInt64) throws {
        self.reader = reader
        self.epoch = epoch
        self.state = state
        limit = request.limit
        empty = AnswerSize(most: request.maximumBytes)
        scope = FeedScope(request.scope, reader)
        clients = request.clients
        end = try LogPoint.at(state.sequence, in: reader.database)
        place =
            try request.after.map {
                try ChangePosition.place(of: $0, in: state, reader.database, epoch: epoch)
            } ?? .copy(start: end, row: 0)
    }

    mutating func page() throws -> ChangePage {
        switch (place, scope.isEverything) {
        case (.copy(let start, row: 0), false):
            try copyPage(from: 0, after: "", start: start)
        case (.copy(let start, let row), _): try copyPage(after: row, start: start)
        case (.scopedCopy(let start, let collection, let id), false):
            try copyPage(from: collection, after: id, start: start)
        // A reader with a wider scope than before starts again.
        case (.scopedCopy, true): try copyPage(after: 0, start: end)
        case (.log(let point), _): try logPage(after: point.sequence)
        }
    }

    private func page(
        _ changes: [ChangePage.Change],
        next: ChangePosition.Place,
        isCaughtUp: Bool,
        origins: [DocumentPath: ChangeOrigin] = [:]
    ) throws -> ChangePage {
        ChangePage(
            changes: changes,
            next: ChangePosition(epoch: epoch, next).cursor,
            isCaughtUp: isCaughtUp,
            time: isCaughtUp ? state.time : nil,
            origins: origins,
            acknowledged: isCaughtUp
                ? try StoredOrigins.last(of: clients, in: reader.database) : [:]
        )
    }

    private func change(_ statement: RawStatement) throws -> ChangePage.Change {
        let row = statement.row()
        let path = row.path(in: try reader.path(of: row.collection))
        return row.change(of: path, openedBy: reader.sealing)
    }

    /// Returns a page of current documents, for a reader without a cursor.
    ///
    /// Changes during the copy are in the log after its start, so new rows and reused row numbers are harmless.
    private func copyPage(after row: Int64, start: LogPoint) throws -> ChangePage {
        let statement = try RawStatement(
            reader.database,
            "SELECT \(RawStatement.columns) FROM documents d WHERE d.rid > ? ORDER BY d.rid"
        )
        try statement.bind(1, row)
        var changes: [ChangePage.Change] = []
        var size = empty
        var last = row
        var isDone = true
        try statement.each { row in
            guard try scope.hasDocument(row.text(2), in: row.integer(1)) else { return true }
            guard changes.count < limit, !size.isFull else {
                isDone = false
                return false
            }
            guard let change = scope.copied(try change(row)) else { return true }
            size.add(change)
            changes.append(change)
            last = row.integer(0)
            return true
        }
        return try page(
            changes,
            next: isDone ? .log(start) : .copy(start: start, row: last),
            isCaughtUp: isDone && start == end
        )
    }

    /// Returns a page of current documents of the scope, by collection and id, without reading other collections.
    private func copyPage(
        from first: Int64,
        after id: String,
        start: LogPoint
    ) throws -> ChangePage {
        var changes: [ChangePage.Change] = []
        var size = empty
        var last = ChangePosition.Place.scopedCopy(start: start, collection: first, id: id)
        var isDone = true
        for part in try scope.parts() where part.collection >= first && isDone {
            try part.each(after: part.collection == first ? id : "", in: reader) { row in
                guard changes.count < limit, !size.isFull else {
                    isDone = false
                    return false
                }
                guard let change = scope.copied(try change(row)) else { return true }
                size.add(change)
                changes.append(change)
                last = .scopedCopy(start: start, collection: part.collection, id: row.text(2))
                return true
            }
        }
        return try page(
            changes,
            next: isDone ? .log(start) : last,
            isCaughtUp: isDone && start == end
        )
    }

    private mutating func logPage(after sequence: Int64) throws -> ChangePage {
        let (rows, isCaughtUp) = try rows(after: sequence)
        var latest: [DocumentPath: Int] = [:]
        let paths = try rows.map { row in
            DocumentPath(trusted: try reader.path(of: row.collection), id: row.id)
        }
        for (position, path) in paths.enumerated() { latest[path] = position }
        var changes: [ChangePage.Change] = []
        var origins: [DocumentPath: ChangeOrigin] = [:]
        var size = empty
        // The row at which the page is full; documents with a later last entry come on a later page.
        var cut: Row?
        for (position, row) in rows.enumerated() where latest[paths[position]] == position {
            guard !size.isFull else { break }
            cut = position < rows.count - 1 ? row : nil
            let path = paths[position]
            guard let (change, revision) = try present(of: path, row, isLast: isCaughtUp),
                let told = scope.filter.told(change)
            else { continue }
            size.add(told)
            changes.append(told)
            // Another entry may have made the current state; a later page has that one's origin.
            if let origin = row.origin, revision == row.revision { origins[path] = origin }
        }
        if size.isFull, let cut {
            return try page(
                changes,
                next: .log(LogPoint(cut.sequence, mark: cut.mark)),
                isCaughtUp: false,
                origins: origins
            )
        }
        let last = isCaughtUp ? nil : rows.last.map { LogPoint($0.sequence, mark: $0.mark) }
        return try page(changes, next: .log(last ?? end), isCaughtUp: isCaughtUp, origins: origins)
    }

    /// Returns the current state and revision of the document of a log entry; nil if a removal follows on a later
    /// page.
    private mutating func present(
        of path: DocumentPath,
        _ row: Row,
        isLast: Bool
    ) throws -> (ChangePage.Change, Int64?)? {
        let current = try reader.selection(of: path, in: row.collection).first {
            $0.row().change(of: path, openedBy: reader.sealing)
        }
        if let change = current {
            guard case .current(let document) = change else { return (change, nil) }
            return (change, document.revision.number)
        }
        guard row.isRemoval else { return nil }
        // The document may have been created again and removed since, and an earlier page may already have shown that
        // later state.
        let last = isLast ? nil : try lastRemoval(of: row)
        let (revision, sequence) = last ?? (row.revision, row.sequence)
        let time = try removalTime(of: sequence)
        return (.removed(path, Revision(number: revision), at: time), revision)
    }

    private mutating func removalTime(of sequence: Int64) throws -> Timestamp {
        if hasRemovalTimes == nil {
            // A read-only file of an earlier version has no table of removal times.
            hasRemovalTimes = try RawStatement(
                reader.database,
                "SELECT EXISTS (SELECT 1 FROM sqlite_master WHERE name = 'removal_times')"
            ).first { $0.integer(0) != 0 }
        }
        guard hasRemovalTimes == true else { return Timestamp(microseconds: sequence) }
        return try RemovalTimes.time(of: sequence, in: reader.database)
    }

    /// Returns the revision and sequence of the last later removal of an entry's document, which is missing now.
    private func lastRemoval(of row: Row) throws -> (revision: Int64, sequence: Int64)? {
        // The index of removals finds it without walking the log.
        let statement = try RawStatement(
            reader.database,
            """
            SELECT rev, seq FROM changes WHERE cid = ? AND id = ? AND removed = 1 AND seq > ?
            ORDER BY seq DESC LIMIT 1
            """
        )
        try statement.bind(1, row.collection)
        try statement.bind(2, row.id)
        try statement.bind(3, row.sequence)
        return try statement.first { ($0.integer(0), $0.integer(1)) }
    }

    private mutating func rows(after sequence: Int64) throws -> (rows: [Row], isCaughtUp: Bool) {
        guard let statement = try scope.log(after: sequence) else { return ([], true) }
        var rows: [Row] = []
        var isCaughtUp = true
        var names = names
        try statement.each { row in
            let id = row.text(2)
            guard try scope.hasDocument(id, in: row.integer(1)) else { return true }
            guard rows.count < limit else {
                isCaughtUp = false
                return false
            }
            let origin = try StoredOrigins.origin(row) { client in
                if let name = names[client] { return name }
                let name = try StoredOrigins.name(of: client, in: reader.database)
                names[client] = name
                return name
            }
            rows.append(
                Row(
                    sequence: row.integer(0),
                    collection: row.integer(1),
                    id: id,
                    revision: row.integer(3),
                    isRemoval: row.integer(4) != 0,
                    mark: LogPoint.mark(row),
                    origin: origin
                )
            )
            return true
        }
        self.names = names
        return (rows, isCaughtUp)
    }
}
#endif
