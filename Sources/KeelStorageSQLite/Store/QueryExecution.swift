#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// Answers one query in one snapshot.
struct QueryExecution {
    let reader: StoreReader
    let indexes: IndexSet
    private(set) var prepared: PreparedQuery

    /// What of the query's collections was otherwise at the time that is read; nil in the present.
    private(set) var past: PastDocuments?

    /// Whether a document that cannot be read is noted; without it, it fails the query.
    var reportsUnreadable = false
    /// The documents that were met and cannot be read.
    private(set) var unreadable: [DocumentPath: UnreadableDocument] = [:]
    /// About how many bytes of documents the result may have; nil for any number.
    var mostBytes: Int?
    /// Takes the documents' values for an aggregation; nil for a query that returns documents.
    var aggregator: Aggregator?
    /// How many documents ``aggregator`` needs at most, in whatever order, when it only counts; nil otherwise.
    var mostCounted: Int?
    /// The fields that the documents of the result need; nil for all.
    var kept: [FieldPath]?
    /// Whether each document is added to ``aggregator`` when it is met, and not held.
    private(set) var isStreamed = false
    /// Whether the result is the same in whatever order documents are met.
    private var isUnordered = false
    /// How many documents have been taken and not held.
    private var streamedCount = 0
    /// The rows that several stretches of indexes have met.
    private var streamedRows: Set<Int64>?
    /// The documents looked at so far.
    var examined = 0
    private var found: [(key: [UInt8], document: Document)] = []
    /// The last place that belongs to a result that has been ended; nil in an order that needs no places.
    private var end: [UInt8]?
    /// Whether the result was ended at ``mostBytes``.
    private(set) var isPartial = false
    /// The bytes of what was found, beyond an offset where it comes in order.
    private var size = AnswerSize(most: nil)
    /// The collection of the last document, which mostly is that of the next one too.
    private var collection: (number: Int64, path: CollectionPath)?

    /// Prepares a query, for the present or for a past of the store.
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
        // Where nothing has changed since, the present answers.
        if !documents.changed.isEmpty { self.past = documents }
    }

    /// The query's documents, and how they were found.
    mutating func documents(isStrict: Bool = false) throws -> (
        documents: [Document], plan: QueryPlan
    ) {
        let access = indexes.planner.access(for: prepared)
        size = AnswerSize(most: mostBytes)
        // Without a window, and for a count, it does not matter in which order documents are met.
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
            // Where the index is being built, there is nothing to declare and nothing to refuse.
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

    /// Holds no document whose values alone are wanted, when they come in the order of the result.
    private mutating func streamInOrder() {
        if aggregator != nil, past == nil, !prepared.isReversed { isStreamed = true }
    }

    /// What was found, when it came in the order of the result.
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

    /// Whether the work is done for one task, and ends with it.
    var isCancellable: Bool { reader.database.onlyReads }

    /// Ends the result at a place, unless it ends before.
    private mutating func endResult(at key: [UInt8]) {
        isPartial = true
        end = end.map { key.lexicographicallyPrecedes($0) ? key : $0 } ?? key
    }

    // MARK: Ways to the documents

    /// Reads the parts of the way, each up to the window.
    ///
    /// - Returns: Whether what was found is in the order of the result.
    private mutating func read(_ parts: [QueryPlanner.Part]) throws -> Bool {
        if parts.count == 1 {
            let isOrdered = if case .documents = parts[0] { false } else { true }
            if isOrdered { streamInOrder() }
            try read(parts[0], isOnly: true)
            takePast()
            // What was otherwise does not come in the order of the part.
            return isOrdered && past == nil
        }
        if isStreamed { streamedRows = [] }
        var all: [DocumentPath: (key: [UInt8], document: Document)] = [:]
        for part in parts where !isCountDone {
            found.removeAll(keepingCapacity: true)
            size = AnswerSize(most: mostBytes.map { $0 / parts.count })
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

    /// Whether nothing but documents' names decides what is found.
    var isByNamesAlone: Bool { prepared.filter == nil && prepared.orders.count == 1 }

    /// Passes over documents that the offset leaves out, without a look at them.
    ///
    /// - Returns: How many documents at the beginning of the stretch these are.
    private mutating func passOver(_ stretch: IdentifierStretch) throws -> Int {
        let open = prepared.query.offset - takenCount
        // One that cannot be read counts only if nobody wants to know of it.
        guard open > 0, isByNamesAlone, past == nil, !reportsUnreadable, mostCounted == nil else {
            return 0
        }
        let count = try stretch.count(upTo: open, in: reader.database)
        examined += count
        prepared.passOver(count)
        return count
    }

    /// Reads a stretch of an index; of entries whose keys are cut, the documents say which comes first.
    private mutating func read(
        _ stretch: IndexStretch,
        of scan: QueryPlanner.Scan,
        isOnly: Bool
    ) throws {
        // Places in a stretch in the result's order need not be computed.
        let isExact = isOnly && past == nil && scan.isExact
        let checksScope = stretch.needsScopeCheck
        var tied = TiedDocuments(scan, mostBytes: mostBytes)
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

    /// Gives a statement's documents to `take`, those that another part has given left out.
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

    /// The document of a row; nil if it cannot be read and the query goes on without it.
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

    /// Holds a document, or adds it to what is computed.
    private mutating func hold(_ document: Document, at key: [UInt8]) {
        guard isStreamed else { return found.append((key, keeping(document))) }
        if isCountDone { return }
        streamedCount += 1
        if streamedCount > prepared.query.offset { aggregator?.add(document) }
    }

    /// Whether more documents would not change what is counted.
    var isCountDone: Bool { mostCounted.map { streamedCount >= $0 } ?? false }

    private var takenCount: Int { isStreamed ? streamedCount : found.count }

    /// The document as it is held.
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

    /// The place of a document of the present, nil if it has none at the time that is read.
    private func place(of document: Document) -> [UInt8]? {
        if let past, past.changed.contains(document.path) { return nil }
        return prepared.place(of: document)
    }

    /// Takes what of the past the present does not have.
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

    /// Whether a result in order has more documents than the last one taken; notes what ends it.
    private mutating func wantsMore(after document: Document, at key: [UInt8] = []) -> Bool {
        if let window = prepared.window, takenCount >= window { return false }
        guard takenCount > prepared.query.offset else { return true }
        size.add(document, with: key.count)
        if size.isFull { isPartial = true }
        return !size.isFull
    }

    /// Takes a document from a stretch that holds the query's documents and no others.
    ///
    /// The conditions are checked all the same: a damaged index must not invent a result.
    private mutating func takeExact(_ document: Document) -> Bool {
        guard prepared.matches(document) else { return true }
        hold(document, at: [])
        return wantsMore(after: document)
    }

    /// Takes a document that comes in any order.
    mutating func takeUnordered(_ document: Document) throws(StorageError) {
        guard let key = place(of: document) else { return }
        if let end, end.lexicographicallyPrecedes(key) { return }
        hold(document, at: key)
        guard !isStreamed else { return }
        size.add(document, with: key.count)
        // A large collection must not be kept in memory for the sake of its first few documents.
        let isLong = prepared.window.map { found.count > 2 * $0 + 1_000 } ?? false
        if isLong || size.isFarOver { try dropLast() }
    }

    /// Drops what was found behind the window, and behind the bytes that the result may have.
    private mutating func dropLast() throws(StorageError) {
        try PreparedQuery.sort(&found, isCancellable: isCancellable)
        if let window = prepared.window, found.count > window {
            found.removeLast(found.count - window)
        }
        size = AnswerSize(most: mostBytes)
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
