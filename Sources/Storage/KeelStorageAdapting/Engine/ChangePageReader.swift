internal import KeelDocuments

package struct ChangePageReader {
    private let store: any LogSnapshot
    private let sealing: BodySealing
    private let epoch: UInt64
    private let limit: Int
    private let empty: AnswerSize
    private let log: LogExtent
    private let end: LogPoint
    private let place: ChangePosition.Place
    private let scope: FeedScope
    private let clients: Set<String>

    /// Prepares a page.
    ///
    /// - Throws: `StorageError/Code/cursorExpired` for a cursor from which the log cannot be read.
    package init(
        _ request: ChangeRequest,
        in store: any LogSnapshot,
        _ log: LogExtent,
        epoch: UInt64
    ) throws {
        self.store = store
        sealing = store.sealing
        self.epoch = epoch
        self.log = log
        limit = request.limit
        empty = AnswerSize(most: request.maximumBytes)
        scope = FeedScope(request.scope, in: store)
        clients = request.clients
        end = try store.point(at: log.sequence, in: log)
        place =
            try request.after.map { try store.place(of: $0, in: log, epoch: epoch) }
            ?? .copy(start: end, row: 0)
    }

    package func page() throws -> ChangePage {
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
            time: isCaughtUp ? log.time : nil,
            origins: origins,
            acknowledged: isCaughtUp && !clients.isEmpty
                ? try store.lastMutations(of: clients) : [:]
        )
    }

    // MARK: Copies

    private struct Copy {
        var changes: [ChangePage.Change] = []
        var size: AnswerSize
    }

    /// Adds the document of a row to a page; returns whether the page had room for it.
    private func add(_ row: borrowing StoredRow, to copy: inout Copy) throws -> Bool {
        guard copy.changes.count < limit, !copy.size.isFull else { return false }
        let path = row.path(in: try store.path(of: row.collection))
        if let change = scope.copied(row.change(of: path, openedBy: sealing)) {
            copy.size.add(change)
            copy.changes.append(change)
        }
        return true
    }

    private func page(
        _ copy: Copy,
        _ next: ChangePosition.Place,
        start: LogPoint,
        isDone: Bool
    ) throws -> ChangePage {
        try page(
            copy.changes,
            next: isDone ? .log(start) : next,
            isCaughtUp: isDone && start == end
        )
    }

    /// Returns a page for a reader without a cursor.
    ///
    /// Changes during the copy are in the log after its start, so new rows and reused row numbers are harmless.
    private func copyPage(after row: Int64, start: LogPoint) throws -> ChangePage {
        var copy = Copy(size: empty)
        var last = row
        let isDone = try store.eachDocument(after: row, expecting: limit + 1) { row in
            guard try scope.hasDocument(row) else { return true }
            guard try add(row, to: &copy) else { return false }
            last = row.number
            return true
        }
        return try page(copy, .copy(start: start, row: last), start: start, isDone: isDone)
    }

    /// Returns a page of the scope's documents, without reading other collections.
    private func copyPage(
        from first: Int64,
        after id: String,
        start: LogPoint
    ) throws -> ChangePage {
        var copy = Copy(size: empty)
        var last = ChangePosition.Place.scopedCopy(start: start, collection: first, id: id)
        var isDone = true
        var number: Int64? = first
        while isDone, let from = number {
            let (parts, next) = try scope.parts(from: from)
            for part in parts where isDone {
                isDone = try part.each(
                    after: part.collection == first ? id : "",
                    expecting: limit + 1 - copy.changes.count,
                    in: store
                ) { row in
                    guard try add(row, to: &copy) else { return false }
                    let id = String(decoding: row.id, as: UTF8.self)
                    last = .scopedCopy(start: start, collection: part.collection, id: id)
                    return true
                }
            }
            number = next
        }
        return try page(copy, last, start: start, isDone: isDone)
    }

    // MARK: The log

    private struct Present {
        /// Nil if it is out of scope.
        let told: ChangePage.Change?
        /// Nil if it is unreadable.
        let revision: Int64?
    }

    private func logPage(after sequence: Int64) throws -> ChangePage {
        let (entries, isLast) = try scope.changes(after: sequence, most: limit)
        let paths = try entries.map { entry in
            DocumentPath(trusted: try store.path(of: entry.collection), id: entry.id)
        }
        var latest: [DocumentPath: Int] = [:]
        for (position, path) in paths.enumerated() { latest[path] = position }
        // Each document comes once, at its last entry.
        let positions = entries.indices.filter { latest[paths[$0]] == $0 }
        var present: [Present?] = Array(repeating: nil, count: positions.count)
        var size = empty
        // The place at which the page is full; documents with a later last entry come on a later page.
        var full: Int?
        try store.eachDocument(at: positions.map { paths[$0] }, asOf: nil) { place, row in
            let change = row.change(of: paths[positions[place]], openedBy: sealing)
            let told = scope.filter.told(change)
            let isReadable = if case .current = change { true } else { false }
            present[place] = Present(told: told, revision: isReadable ? row.revision : nil)
            if let told { size.add(told) }
            if size.isFull { full = place }
            return !size.isFull
        }
        let wanted = positions.prefix(full.map { $0 + 1 } ?? positions.count)
        let missing = wanted.indices.filter { present[$0] == nil }.map { wanted[$0] }
        let removals = try removals(of: missing.map { entries[$0] }, isLast: isLast)
        var changes: [ChangePage.Change] = []
        var origins: [DocumentPath: ChangeOrigin] = [:]
        let names = try clientNames(of: wanted.map { entries[$0] })
        let count = full.map { positions[$0] + 1 } ?? entries.count
        var skipped = Set((0..<count).filter { latest[paths[$0]] != $0 }.map { paths[$0] })
        for (place, position) in wanted.enumerated() {
            let (entry, path) = (entries[position], paths[position])
            let told: ChangePage.Change?
            let revision: Int64?
            if let document = present[place] {
                (told, revision) = (document.told, document.revision)
            } else if let removal = removals[entry.sequence] {
                told = scope.filter.told(
                    .removed(path, Revision(number: removal.revision), at: removal.time)
                )
                revision = removal.revision
            } else {
                skipped.insert(path)
                continue
            }
            if revision != entry.revision { skipped.insert(path) }
            guard let told else { continue }
            changes.append(told)
            // Another entry may have made the current state; a later page has that one's origin.
            if let origin = entry.origin, revision == entry.revision {
                origins[path] = names[origin.client].map {
                    ChangeOrigin(client: $0, mutation: origin.mutation)
                }
            }
        }
        // Up to there, the log has only the last change of each document.
        let isWhole = sequence >= log.compacted
        let isCut = count < entries.count
        let last = isLast && !isCut ? nil : entries.prefix(count).last?.point
        var told = try page(
            changes,
            next: .log(last ?? end),
            isCaughtUp: isLast && !isCut,
            origins: origins
        )
        told.skipped = isWhole ? skipped : nil
        return told
    }

    /// Returns the revisions and times of the removals of missing documents, by the sequences of their entries.
    ///
    /// A missing document whose entry is not a removal has none, because its removal follows on a later page.
    private func removals(
        of entries: [LoggedChange],
        isLast: Bool
    ) throws -> [Int64: (revision: Int64, time: Timestamp)] {
        let removals = entries.filter(\.isRemoval)
        guard !removals.isEmpty else { return [:] }
        // The document may have been created again and removed since, and an earlier page may already have shown that
        // later state.
        let later = isLast ? [] : try store.lastRemovals(after: removals)
        let last = removals.enumerated().map { place, entry in
            (isLast ? nil : later[place]) ?? (entry.sequence, entry.revision)
        }
        let times = try store.removalTimes(of: last.map(\.sequence))
        var found: [Int64: (revision: Int64, time: Timestamp)] = [:]
        for (entry, (removal, time)) in zip(removals, zip(last, times)) {
            found[entry.sequence] = (removal.revision, time)
        }
        return found
    }

    private func clientNames(of entries: [LoggedChange]) throws -> [Int64: String] {
        let numbers = Set(entries.compactMap(\.origin?.client))
        return numbers.isEmpty ? [:] : try store.clientNames(of: numbers)
    }
}

extension LoggedChange {
    fileprivate var point: LogPoint { LogPoint(sequence, mark: mark) }
}
