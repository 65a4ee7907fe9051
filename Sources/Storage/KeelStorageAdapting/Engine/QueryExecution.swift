package import KeelDocuments

package struct QueryExecution {
    let store: any StoreSnapshot
    let indexes: IndexSet
    private let sealing: BodySealing
    /// Whether the work belongs to one task and ends with its cancellation.
    let isCancellable: Bool
    private let maximumExamined: Int
    private(set) var prepared: PreparedQuery

    /// The documents of the query's collections that were different at the time being read; nil for the present.
    private(set) var past: PastDocuments?

    package var reportsUnreadable = false
    package private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]
    /// Approximate, in bytes.
    package var maximumBytes: Int?
    /// Nil for a query that returns documents.
    var aggregator: Aggregator?
    /// The largest number of documents that ``aggregator`` needs, in any order, if it only counts; nil otherwise.
    var mostCounted: Int?
    var kept: [FieldPath]?
    private(set) var isStreamed = false
    private var isUnordered = false
    private var streamedCount = 0
    /// The rows that have been read, if several index ranges may contain the same row.
    private var streamedRows: Set<Int64>?
    var examined = 0
    private var found: [(key: [UInt8], document: Document)] = []
    /// The documents found in a range that contains exactly those of the query, in the order of the result.
    private var exact: [Document] = []
    /// The last place within a result that was cut off; nil in an order that needs no places.
    private var end: [UInt8]?
    package private(set) var isPartial = false
    /// The size of the documents found, without those before the offset if they come in order.
    private var size = AnswerSize(most: nil)
    /// That of the last document, and usually of the next one.
    private var collection: (number: Int64, path: CollectionPath)?

    package init(
        _ query: DocumentQuery,
        in store: any StoreSnapshot,
        indexes: IndexSet,
        past: StorePast? = nil
    ) throws {
        self.store = store
        self.indexes = indexes
        sealing = store.sealing
        isCancellable = store.isCancellable
        maximumExamined = store.maximumExamined
        prepared = PreparedQuery(query)
        guard let past else { return }
        let documents = try past.documents(of: prepared)
        // If nothing has changed since, the present has the result.
        if !documents.changed.isEmpty { self.past = documents }
    }

    package mutating func documents(isStrict: Bool = false) throws -> (
        documents: [Document], plan: QueryPlan
    ) {
        for document in past?.unreadable ?? [] {
            guard reportsUnreadable else { throw document.error }
            unreadable[document.path] = document
        }
        let access = indexes.planner.access(for: prepared)
        size = AnswerSize(most: maximumBytes)
        // Without a window, and for a count, the order of reading does not matter.
        isUnordered =
            mostCounted != nil
            || aggregator != nil && prepared.query.limit == nil && prepared.query.offset == 0
        isStreamed = isUnordered
        if let search = prepared.query.search {
            let filter = try SearchFilter(
                search,
                in: prepared.query.scope,
                among: indexes.searches
            )
            try self.search(filter)
            takePast(where: filter.matches)
            return (try sorted, plan(.search(filter.definition.name)))
        }
        switch access {
        case .parts(let parts):
            let isOrdered = try read(parts)
            return (try isOrdered ? inOrder : sorted, plan(QueryPlanner.reported(parts)))
        case .scan(let missing):
            // An index that is being built is declared, so there is nothing to suggest or refuse.
            let isDeclared =
                if case .parts = indexes.declared.access(for: prepared) { true } else { false }
            let suggestion = isDeclared ? nil : missing
            if isStrict, !isDeclared {
                let plan = QueryPlan(access: .scan, suggestion: suggestion)
                throw StorageError.indexRequired(by: plan, for: prepared.query)
            }
            try readEverything()
            takePast()
            return (
                try sorted, QueryPlan(access: .scan, examined: examined, suggestion: suggestion)
            )
        }
    }

    private func plan(_ access: QueryPlan.Access) -> QueryPlan {
        QueryPlan(access: access, examined: examined)
    }

    private mutating func streamInOrder() {
        if aggregator != nil, past == nil, !prepared.isReversed { isStreamed = true }
    }

    private var inOrder: [Document] {
        get throws(StorageError) {
            try prepared.cut(
                exact.isEmpty ? found.map(\.document) : exact,
                isCancellable: isCancellable
            )
        }
    }

    private var sorted: [Document] {
        get throws(StorageError) {
            guard let end else {
                return try prepared.result(of: found, isCancellable: isCancellable)
            }
            let places = found.filter { !end.lexicographicallyPrecedes($0.key) }
            return try prepared.result(of: places, isCancellable: isCancellable)
        }
    }

    private mutating func endResult(at key: [UInt8]) {
        isPartial = true
        end = end.map { key.lexicographicallyPrecedes($0) ? key : $0 } ?? key
    }

    // MARK: Ways to the documents

    /// Reads the parts of the access, each up to the window.
    ///
    /// - Returns: Whether the documents found are in the order of the result.
    private mutating func read(_ parts: [QueryPlanner.Part]) throws -> Bool {
        if parts.count == 1 {
            let isOrdered = if case .documents = parts[0] { false } else { true }
            if isOrdered { streamInOrder() }
            try read(parts[0], isOnly: true)
            takePast()
            // Documents of the past do not come in the order of the part.
            return isOrdered && past == nil
        }
        if isStreamed { streamedRows = [] }
        var all: [DocumentPath: (key: [UInt8], document: Document)] = [:]
        for part in parts where !isCountDone {
            found.removeAll(keepingCapacity: true)
            size = AnswerSize(most: maximumBytes.map { $0 / parts.count })
            try read(part, isOnly: false)
            var check = CancellationCheck(isOn: isCancellable)
            for place in found {
                try check.step()
                all[place.document.path] = place
            }
        }
        guard !isStreamed else {
            takePast()
            return false
        }
        for place in past?.found ?? [] { all[place.document.path] = place }
        found = Array(all.values)
        return false
    }

    private mutating func read(
        _ part: QueryPlanner.Part,
        isOnly: Bool
    ) throws {
        guard prepared.window != 0, !isCountDone else { return }
        switch part {
        case .index(let scan):
            guard let stretch = try IndexStretch(scan, of: prepared, store, indexes) else {
                return
            }
            try read(stretch, of: scan, isOnly: isOnly)
        case .documents(let paths):
            let covered = paths.filter { prepared.covers($0.collection) }
            try store.eachDocument(at: covered, asOf: nil) { _, row in try takeUnordered(row) }
        case .identifiers(let range, let isBackward):
            var order = try GroupOrder(prepared, in: range, isBackward: isBackward, store)
            while let stretch = try order.next() {
                let passed = isOnly ? try passOver(stretch) : 0
                let wantsMore = try store.eachDocument(
                    in: stretch,
                    after: passed,
                    expecting: expectedCount
                ) { row in
                    guard let document = try document(row) else { return true }
                    return take(document)
                }
                guard wantsMore else { return }
            }
        }
    }

    private var expectedCount: Int? {
        (mostCounted ?? prepared.window).map { max(1, $0 - takenCount) }
    }

    var isByNamesAlone: Bool { prepared.filter == nil && prepared.orders.count == 1 }

    /// Skips documents before the offset.
    ///
    /// - Returns: The number of skipped documents at the beginning of the range.
    private mutating func passOver(_ stretch: IdentifierStretch) throws -> Int {
        let open = prepared.query.offset - takenCount
        // An unreadable document counts only if it is not to be reported.
        guard open > 0, isByNamesAlone, past == nil, !reportsUnreadable, mostCounted == nil else {
            return 0
        }
        let count = try store.count(of: stretch, upTo: open)
        examined += count
        prepared.passOver(count)
        return count
    }

    /// Reads an index range, and orders entries with cut keys by their documents.
    private mutating func read(
        _ stretch: IndexStretch,
        of scan: QueryPlanner.Scan,
        isOnly: Bool
    ) throws {
        // Places in a range in the result's order need not be computed.
        let isExact = isOnly && past == nil && scan.isExact
        if isExact, let window = prepared.window { exact.reserveCapacity(min(window, 100)) }
        let checksScope = stretch.needsScopeCheck
        var tied = TiedDocuments(scan, maximumBytes: maximumBytes)
        let wantsMore = try store.eachDocument(in: stretch, expecting: expectedCount) { row in
            guard let document = try document(row) else { return true }
            if checksScope, !prepared.covers(document.path.collection) { return true }
            let mayBeTied = !isUnordered && row.keyLength >= EntryKey.longestComponent
            let tie = mayBeTied ? tied.tie(of: document) : nil
            if tied.isEnded(by: tie), try !take(&tied, isExact: isExact) { return false }
            guard let tie else { return isExact ? takeExact(document) : take(document) }
            guard let key = prepared.place(of: document) else { return true }
            if tied.isEmpty {
                let taken = takenCount
                tied.begin(
                    tie,
                    most: prepared.window.map { $0 - taken },
                    skipped: prepared.query.offset - taken
                )
            }
            try tied.add(document, at: key, isCancellable: isCancellable)
            return true
        }
        if wantsMore, !tied.isEmpty { _ = try take(&tied, isExact: isExact) }
    }

    private mutating func take(
        _ tied: inout TiedDocuments,
        isExact: Bool
    ) throws(StorageError) -> Bool {
        // The keys count toward the size here as they do in the tie, which may already have dropped documents for it.
        for (key, document) in try tied.end(isCancellable: isCancellable) {
            guard isExact ? takeExact(document, at: key) : take(document, at: key) else {
                return false
            }
        }
        return true
    }

    /// Returns the document of a row; nil if another part has already read it, if it was different at the time being
    /// read, or if it is unreadable and the query continues without it.
    private mutating func document(_ row: borrowing StoredRow) throws -> Document? {
        examined += 1
        guard examined <= maximumExamined else { throw LongRead() }
        if collection?.number != row.collection {
            collection = (row.collection, try store.path(of: row.collection))
        }
        guard let path = collection.map({ row.path(in: $0.path) }) else { return nil }
        // The past has the state that the read needs.
        if let past, past.changed.contains(path) { return nil }
        do throws(StorageError) {
            let document = try row.document(at: path, openedBy: sealing)
            return streamedRows?.insert(row.number).inserted == false ? nil : document
        } catch {
            guard reportsUnreadable else { throw error }
            unreadable[path] = UnreadableDocument(path, error)
            return nil
        }
    }

    // MARK: Taking documents

    private mutating func hold(_ document: Document, at key: [UInt8]) {
        guard isStreamed else { return found.append((key, keeping(document))) }
        stream(document)
    }

    private mutating func stream(_ document: Document) {
        if isCountDone { return }
        streamedCount += 1
        if streamedCount > prepared.query.offset { aggregator?.add(document) }
    }

    var isCountDone: Bool {
        // Called for each row: the closure of a `map` would capture this whole value.
        guard let mostCounted else { return false }
        return streamedCount >= mostCounted
    }

    private var takenCount: Int { isStreamed ? streamedCount : found.count + exact.count }

    private func keeping(_ document: Document) -> Document {
        guard let kept else { return document }
        return document.with(document.body.selecting(kept))
    }

    private mutating func takePast(where isFound: (Document) -> Bool = { _ in true }) {
        for place in past?.found ?? [] where isFound(place.document) {
            hold(place.document, at: place.key)
        }
    }

    private mutating func take(_ document: Document) -> Bool {
        guard let key = prepared.place(of: document) else { return true }
        return take(document, at: key)
    }

    private mutating func take(_ document: Document, at key: [UInt8]) -> Bool {
        hold(document, at: key)
        guard wantsMore(after: document, at: key) else {
            if isPartial { endResult(at: key) }
            return false
        }
        return true
    }

    /// Returns whether a result in order continues after the last document taken; records a cutoff.
    private mutating func wantsMore(after document: Document, at key: [UInt8]) -> Bool {
        if isCountDone { return false }
        if let window = prepared.window, takenCount >= window { return false }
        guard takenCount > prepared.query.offset else { return true }
        size.add(document, with: key.count)
        if size.isFull { isPartial = true }
        return !size.isFull
    }

    /// Takes a document from a range that contains exactly the query's documents; returns whether more are wanted.
    private mutating func takeExact(_ document: Document, at key: [UInt8] = []) -> Bool {
        if isStreamed { stream(document) } else { exact.append(keeping(document)) }
        return wantsMore(after: document, at: key)
    }

    mutating func takeUnordered(
        _ row: borrowing StoredRow,
        where isFound: (Document) -> Bool = { _ in true }
    ) throws -> Bool {
        if let document = try document(row), isFound(document) { try takeUnordered(document) }
        return !isCountDone
    }

    private mutating func takeUnordered(_ document: Document) throws(StorageError) {
        guard let key = prepared.place(of: document) else { return }
        if let end, end.lexicographicallyPrecedes(key) { return }
        hold(document, at: key)
        guard !isStreamed else { return }
        size.add(document, with: key.count)
        // A large collection must not be held in memory for the sake of its first few documents.
        if size.isFarOver {
            try dropLast()
        } else if let window = prepared.window, found.count > 2 * window + 1_000 {
            try dropLast()
        }
    }

    private mutating func dropLast() throws(StorageError) {
        try PreparedQuery.sort(&found, isCancellable: isCancellable)
        if let window = prepared.window, found.count > window {
            found.removeLast(found.count - window)
        }
        size = AnswerSize(most: maximumBytes)
        var count = 0
        for place in found where !size.isFull {
            count += 1
            if count > prepared.query.offset {
                size.add(place.document, with: place.key.count)
            }
        }
        guard count < found.count else { return }
        endResult(at: found[count - 1].key)
        found.removeLast(found.count - count)
    }
}
