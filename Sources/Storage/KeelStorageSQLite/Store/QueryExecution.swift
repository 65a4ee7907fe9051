#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Executes one query in one snapshot.
struct QueryExecution {
    let reader: StoreReader
    let indexes: IndexSet
    private(set) var prepared: PreparedQuery

    /// The documents of the query's collections that were different at the time being read; nil for the present.
    private(set) var past: PastDocuments?

    /// Whether an unreadable document is recorded; otherwise it fails the query.
    var reportsUnreadable = false
    private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]
    /// The approximate maximum size of the result's documents in bytes; nil without a limit.
    var maximumBytes: Int?
    /// Aggregates the documents' values; nil for a query that returns documents.
    var aggregator: Aggregator?
    /// The largest number of documents that ``aggregator`` needs, in any order, if it only counts; nil otherwise.
    var mostCounted: Int?
    /// The fields that the result's documents need; nil for all.
    var kept: [FieldPath]?
    /// Whether each document is added to ``aggregator`` at once instead of being held.
    private(set) var isStreamed = false
    /// Whether the result does not depend on the order in which documents are read.
    private var isUnordered = false
    /// The number of documents that were aggregated at once.
    private var streamedCount = 0
    /// The rows that have been read, if several index ranges may contain the same row.
    private var streamedRows: Set<Int64>?
    /// The number of documents that were read.
    var examined = 0
    private var found: [(key: [UInt8], document: Document)] = []
    /// The last place within a result that was cut off; nil in an order that needs no places.
    private var end: [UInt8]?
    /// Whether the result was cut off at ``maximumBytes``.
    private(set) var isPartial = false
    /// The size of the documents found, without those before the offset if they come in order.
    private var size = AnswerSize(most: nil)
    /// The collection of the last document, which is usually that of the next one.
    private var collection: (number: Int64, path: CollectionPath)?

    /// Prepares a query for the present or for a past of the store.
    init(
        _ query: DocumentQuery,
        reader: StoreReader,
        indexes: IndexSet,
        past: StorePast? = nil
    ) throws {
        self.reader = reader
        self.indexes = indexes
        prepared = PreparedQuery(query)
        guard let past else { return }
        let documents = try past.documents(of: prepared)
        // If nothing has changed since, the present has the result.
        if !documents.changed.isEmpty { self.past = documents }
    }

    /// Returns the query's documents, and the plan that found them.
    mutating func documents(isStrict: Bool = false) throws -> (
        documents: [Document], plan: QueryPlan
    ) {
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

    /// Streams the documents of an aggregation that come in the order of the result.
    private mutating func streamInOrder() {
        if aggregator != nil, past == nil, !prepared.isReversed { isStreamed = true }
    }

    /// The documents found, if they came in the order of the result.
    private var inOrder: [Document] {
        get throws(StorageError) {
            try prepared.cut(found.map(\.document), isCancellable: isCancellable)
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

    /// Whether the work belongs to one task and ends with its cancellation.
    var isCancellable: Bool { reader.database.onlyReads }

    /// Cuts the result off at a place, unless it ends earlier.
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
        guard prepared.window != 0 else { return }
        switch part {
        case .index(let scan):
            guard let stretch = try IndexStretch(scan, of: prepared, reader, indexes) else {
                return
            }
            try read(stretch, of: scan, isOnly: isOnly)
        case .documents(let paths):
            for path in paths where !isCountDone && prepared.covers(path.collection) {
                guard let number = try reader.number(of: path.collection) else { continue }
                _ = try read(reader.selection(of: path, in: number)) { one, document, _ in
                    try one.takeUnordered(document)
                    return true
                }
            }
        case .identifiers(let range, let isBackward):
            var order = try GroupOrder(prepared, in: range, isBackward: isBackward, reader)
            while let stretch = try order.next() {
                let passed = isOnly ? try passOver(stretch) : 0
                let statement = try stretch.statement(passing: passed, in: reader.database)
                let wantsMore = try read(statement) { one, document, _ in one.take(document) }
                guard wantsMore else { return }
            }
        }
    }

    /// Whether only the paths of documents decide the result.
    var isByNamesAlone: Bool { prepared.filter == nil && prepared.orders.count == 1 }

    /// Skips documents before the offset without reading them.
    ///
    /// - Returns: The number of skipped documents at the beginning of the range.
    private mutating func passOver(_ stretch: IdentifierStretch) throws -> Int {
        let open = prepared.query.offset - takenCount
        // An unreadable document counts only if it is not to be reported.
        guard open > 0, isByNamesAlone, past == nil, !reportsUnreadable, mostCounted == nil else {
            return 0
        }
        let count = try stretch.count(upTo: open, in: reader.database)
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
        let checksScope = stretch.needsScopeCheck
        var tied = TiedDocuments(scan, maximumBytes: maximumBytes)
        let wantsMore = try read(stretch.documents(in: reader.database)) { one, document, row in
            if checksScope, !one.prepared.covers(document.path.collection) { return true }
            let mayBeTied = !one.isUnordered && IndexStretch.mayBeCut(row)
            let tie = mayBeTied ? tied.tie(of: document) : nil
            if tied.isEnded(by: tie), try !one.take(&tied) { return false }
            guard let tie else { return isExact ? one.takeExact(document) : one.take(document) }
            guard let key = one.place(of: document) else { return true }
            if tied.isEmpty {
                let taken = one.takenCount
                tied.begin(
                    tie,
                    most: one.prepared.window.map { $0 - taken },
                    skipped: one.prepared.query.offset - taken
                )
            }
            try tied.add(document, at: key, isCancellable: one.isCancellable)
            return true
        }
        if wantsMore, !tied.isEmpty { _ = try take(&tied) }
    }

    /// Takes the documents of a tie in their order.
    ///
    /// - Returns: Whether more are wanted.
    private mutating func take(_ tied: inout TiedDocuments) throws(StorageError) -> Bool {
        for document in try tied.end(isCancellable: isCancellable) where !take(document) {
            return false
        }
        return true
    }

    /// Passes a statement's documents to `take`, except those that another part has already passed.
    ///
    /// - Returns: Whether `take` wanted more than there are.
    private mutating func read(
        _ statement: RawStatement,
        _ take: (inout QueryExecution, Document, RawStatement) throws -> Bool
    ) throws -> Bool {
        var wantsMore = true
        try statement.each { row in
            examined += 1
            guard let document = try document(row) else { return true }
            if streamedRows?.insert(row.integer(StoreReader.rowColumn)).inserted == false {
                return true
            }
            wantsMore = try take(&self, document, row) && !isCountDone
            return wantsMore
        }
        return wantsMore
    }

    /// Returns the document of a row; nil if it is unreadable and the query continues without it.
    mutating func document(_ row: RawStatement) throws -> Document? {
        let number = row.integer(StoreReader.collectionColumn)
        if collection?.number != number { collection = (number, try reader.path(of: number)) }
        guard let path = collection?.path else { return nil }
        guard reportsUnreadable else { return try reader.document(row, in: path) }
        switch reader.change(row, in: path) {
        case .current(let document): return document
        case .unreadable(let document): unreadable[document.path] = document
        case .removed, .leftScope: break
        }
        return nil
    }

    // MARK: Taking documents

    /// Holds a document, or adds it to the aggregation.
    private mutating func hold(_ document: Document, at key: [UInt8]) {
        guard isStreamed else { return found.append((key, keeping(document))) }
        if isCountDone { return }
        streamedCount += 1
        if streamedCount > prepared.query.offset { aggregator?.add(document) }
    }

    /// Whether further documents cannot change the counts.
    var isCountDone: Bool {
        // Called for each row: the closure of a `map` would capture this whole value.
        guard let mostCounted else { return false }
        return streamedCount >= mostCounted
    }

    private var takenCount: Int { isStreamed ? streamedCount : found.count }

    /// Returns the document in the form to hold.
    private func keeping(_ document: Document) -> Document {
        guard let kept else { return document }
        return Document(
            path: document.path,
            body: document.body.selecting(kept),
            revision: document.revision,
            createTime: document.createTime,
            updateTime: document.updateTime
        )
    }

    /// Returns the place of a present document; nil if it has none at the time being read.
    private func place(of document: Document) -> [UInt8]? {
        if let past, past.changed.contains(document.path) { return nil }
        return prepared.place(of: document)
    }

    /// Takes the documents of the past that are not in the present.
    private mutating func takePast(where isFound: (Document) -> Bool = { _ in true }) {
        for place in past?.found ?? [] where isFound(place.document) {
            hold(place.document, at: place.key)
        }
    }

    /// Takes a document that comes in the order of the result.
    ///
    /// - Returns: Whether more are wanted.
    private mutating func take(_ document: Document) -> Bool {
        guard let key = place(of: document) else { return true }
        hold(document, at: key)
        guard wantsMore(after: document, at: key) else {
            if isPartial { endResult(at: key) }
            return false
        }
        return true
    }

    /// Returns whether a result in order continues after the last document taken; records a cutoff.
    private mutating func wantsMore(after document: Document, at key: [UInt8] = []) -> Bool {
        if let window = prepared.window, takenCount >= window { return false }
        guard takenCount > prepared.query.offset else { return true }
        size.add(document, with: key.count)
        if size.isFull { isPartial = true }
        return !size.isFull
    }

    /// Takes a document from a range that contains exactly the query's documents.
    ///
    /// - Returns: Whether more are wanted.
    private mutating func takeExact(_ document: Document) -> Bool {
        hold(document, at: [])
        return wantsMore(after: document)
    }

    mutating func takeUnordered(_ document: Document) throws(StorageError) {
        guard let key = place(of: document) else { return }
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

    /// Drops the documents after the window, and after the byte limit.
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
#endif
