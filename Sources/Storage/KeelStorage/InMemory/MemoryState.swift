internal import KeelCore
internal import KeelDocuments
internal import KeelStorageAdapting

struct MemoryState: Sendable {
    typealias Documents = [DocumentPath: Document]

    private(set) var collections: [CollectionPath: Documents] = [:]
    private struct Entry: Sendable {
        let sequence: Int64
        let path: DocumentPath
        let revision: Revision
        let origin: ChangeOrigin?
    }

    private let epoch = (0..<3).map { _ in UInt8.random(in: .min ... .max) }
    private var log: [Entry] = []
    private var mutations: [String: Int64] = [:]
    /// The sequence of the last change, kept when the log is trimmed.
    private(set) var lastSequence: Int64 = 0
    private var start: Int64 = 0
    private(set) var latestSequence: Int64?
    private var trimmedUpTo: Int64 = 0
    private let changeLogCapacity: Int
    private var receipts: [[UInt8]: (receipt: CommitReceipt, age: Duration)] = [:]
    private var mostReceipts = Self.fewReceipts
    private static let fewReceipts = 1_024
    private static let receiptAge = LogRetention().receiptAge
    /// The highest revision so far, including replicas.
    private var highestRevision: Int64 = 0
    private(set) var schema = StorageSchema()
    /// The times of removals, as far back as the log reaches.
    private var removals: [DocumentPath: (sequence: Int64, time: Timestamp)] = [:]
    private var history: MemoryHistory?

    init(changeLogCapacity: Int, history: MemoryHistory? = nil) {
        self.changeLogCapacity = changeLogCapacity
        self.history = history
    }

    func asOf(_ time: Timestamp, now: Timestamp) throws(StorageError) -> MemoryState {
        guard let history else {
            throw StorageError(
                .unsupported,
                "the store keeps no history; create the adapter with a history"
            )
        }
        try history.check(time, latest: max(now, self.time))
        var past = self
        for (path, document) in history.documents(asOf: time) { past.put(document, at: path) }
        past.latestSequence = lastSequence
        // A trimmed log must not look complete.
        past.lastSequence =
            log.last { $0.sequence <= time.microseconds }?.sequence
            ?? min(time.microseconds, trimmedUpTo)
        return past
    }

    private mutating func put(_ document: Document?, at path: DocumentPath) {
        guard let document else {
            collections[path.collection]?[path] = nil
            if collections[path.collection]?.isEmpty == true { collections[path.collection] = nil }
            return
        }
        collections[path.collection, default: [:]][path] = document
    }

    mutating func add(_ added: StorageSchema) {
        schema.indexes += added.indexes.filter { !schema.indexes.contains($0) }
        schema.searches += added.searches.filter { !schema.searches.contains($0) }
    }

    subscript(path: DocumentPath) -> Document? { collections[path.collection]?[path] }

    // MARK: Writing

    /// Applies a batch atomically, unless it was applied before; `age` is the age of the store by a monotonic clock.
    mutating func apply(
        _ batch: WriteBatch,
        at clock: Timestamp,
        age: Duration
    ) throws(StorageError) -> CommitReceipt {
        let id = batch.id.map { Array($0.utf8) }
        if let id, let kept = receipts[id] { return kept.receipt }
        try batch.checkNames()
        if let reads = batch.reads { try check(reads) }
        let circumstances = StorageEvaluator.Commit(after: time, clock: clock)
        let first = circumstances.storeTime.microseconds
        let firstRevision = max(first, highestRevision + 1)
        // All writes are computed before any is applied, so that a failure changes nothing.
        var drafts: [DocumentPath: Document?] = [:]
        var effects: [(StorageEvaluator.Effect, DocumentPath)] = []
        var outcomes: [CommitReceipt.WriteOutcome] = []
        for write in batch.writes {
            var commit = circumstances
            commit.revision = firstRevision + Int64(effects.count)
            commit.documentTime = commit.documentTime(after: lastTime(of: write.path))
            let (effect, outcome) = try StorageEvaluator.apply(
                write,
                to: drafts[write.path] ?? self[write.path],
                at: commit
            )
            outcomes.append(outcome)
            switch effect {
            case .none: continue
            case .store(let document): drafts[write.path] = .some(document)
            case .remove: drafts[write.path] = .some(nil)
            }
            effects.append((effect, write.path))
        }
        if history != nil {
            let before = drafts.keys.map { ($0, self[$0]) }
            history?.note(before, before: circumstances.storeTime, age: age)
        }
        // Computed while the documents still have their times.
        var removed: [DocumentPath: Timestamp] = [:]
        for (path, document) in drafts where document == nil {
            removed[path] = circumstances.documentTime(after: lastTime(of: path))
        }
        for (position, (effect, path)) in effects.enumerated() {
            take(effect, of: path, as: first + Int64(position), from: batch.origin)
        }
        for (path, time) in removed { removals[path] = (lastSequence, time) }
        // A document written twice in one batch ends at the revision of the last write.
        for (position, write) in batch.writes.enumerated() {
            outcomes[position].settle(self[write.path], removed: removed[write.path])
        }
        trim()
        var receipt = CommitReceipt(
            batchID: batch.id,
            commitTime: effects.isEmpty ? time : circumstances.storeTime,
            outcomes: outcomes,
            position: position
        )
        receipt.isWithoutChanges = effects.isEmpty
        if let id { keep(receipt, as: id, age) }
        if let origin = batch.origin {
            mutations[origin.client] = max(mutations[origin.client] ?? .min, origin.mutation)
        }
        return receipt
    }

    private mutating func keep(_ receipt: CommitReceipt, as id: [UInt8], _ age: Duration) {
        receipts[id] = (receipt, age)
        guard receipts.count >= mostReceipts else { return }
        receipts = receipts.filter { age - $0.value.age <= Self.receiptAge }
        // Looking at all of them only once they have doubled keeps the cost of a commit small.
        mostReceipts = max(Self.fewReceipts, 2 * receipts.count)
    }

    private mutating func take(
        _ effect: StorageEvaluator.Effect,
        of path: DocumentPath,
        as sequence: Int64,
        from origin: ChangeOrigin?
    ) {
        let revision: Revision
        switch effect {
        case .none: return
        case .store(let document):
            put(document, at: path)
            revision = document.revision
        case .remove(let number):
            put(nil, at: path)
            revision = number
        }
        if lastSequence == 0 { start = sequence - 1 }
        log.append(Entry(sequence: sequence, path: path, revision: revision, origin: origin))
        highestRevision = max(highestRevision, revision.number)
        lastSequence = sequence
    }

    private mutating func trim() {
        // Removing many at once keeps the cost of shifting the array small.
        guard log.count > changeLogCapacity + changeLogCapacity / 4 + 1 else { return }
        let surplus = log.count - changeLogCapacity
        trimmedUpTo = log[surplus - 1].sequence
        log.removeFirst(surplus)
        removals = removals.filter { $0.value.sequence > trimmedUpTo }
    }

    private func lastTime(of path: DocumentPath) -> Timestamp? {
        self[path]?.updateTime ?? removals[path]?.time
    }

    // MARK: Change log

    var position: ChangeCursor { cursor(.log(lastSequence)) }

    private func cursor(_ content: MemoryCursor) -> ChangeCursor {
        content.cursor(of: epoch, from: start)
    }

    var time: Timestamp { Timestamp(microseconds: lastSequence) }

    func changes(_ request: ChangeRequest) throws(StorageError) -> ChangePage {
        guard let after = request.after else {
            return copyPage(after: [], start: lastSequence, request)
        }
        switch MemoryCursor(after, of: epoch, from: start) {
        case .log(let sequence): return try logPage(after: sequence, request)
        case .copy(let key, let start): return copyPage(after: key, start: start, request)
        case nil:
            throw StorageError(.cursorExpired, "the cursor belongs to another store")
        }
    }

    private func logPage(
        after sequence: Int64,
        _ request: ChangeRequest
    ) throws(StorageError) -> ChangePage {
        guard sequence >= trimmedUpTo, sequence <= lastSequence else {
            throw StorageError(.cursorExpired, "the change log no longer reaches the cursor")
        }
        let start = firstIndex(after: sequence)
        let filter = ScopeFilter(request.scope)
        let wanted = log[start...].filter { filter.contains($0.path) }
        let most = AnswerSize.count(
            of: wanted.lazy.prefix(request.limit).map { self[$0.path] },
            upTo: request.maximumBytes
        )
        let part = wanted.prefix(most)
        let isCaughtUp = part.count == wanted.count
        var latest: [DocumentPath: Int] = [:]
        for (index, entry) in part.enumerated() { latest[entry.path] = index }
        // A page shows current states, so a removal has the revision of the document's last entry in the log, not of
        // the entry in this page: an earlier page may have shown a later state.
        var last: [DocumentPath: Entry] = [:]
        var skipped: Set<DocumentPath> = []
        for entry in wanted where latest[entry.path] != nil {
            if last.updateValue(entry, forKey: entry.path) != nil { skipped.insert(entry.path) }
        }
        let changes = part.enumerated().filter { latest[$0.element.path] == $0.offset }
            .compactMap { position, entry in
                filter.told(change(of: entry.path, revision: last[entry.path]?.revision))
            }
        let next = isCaughtUp ? lastSequence : part.last?.sequence ?? lastSequence
        var page = ChangePage(
            changes: changes,
            next: cursor(.log(next)),
            isCaughtUp: isCaughtUp,
            time: isCaughtUp ? time : nil,
            origins: last.compactMapValues(\.origin),
            acknowledged: isCaughtUp ? acknowledged(request.clients) : [:]
        )
        page.skipped = skipped
        return page
    }

    private func acknowledged(_ clients: Set<String>) -> [String: Int64] {
        clients.isEmpty ? [:] : mutations.filter { clients.contains($0.key) }
    }

    private func change(of path: DocumentPath, revision: Revision?) -> ChangePage.Change {
        self[path].map(ChangePage.Change.current)
            ?? .removed(
                path,
                revision ?? Revision(number: highestRevision),
                at: removals[path]?.time
            )
    }

    /// Returns a page of all documents in the order of their paths, after the key of the last path of the copy.
    private func copyPage(
        after key: [UInt8],
        start: Int64,
        _ request: ChangeRequest
    ) -> ChangePage {
        let filter = ScopeFilter(request.scope)
        let rest = collections.values.flatMap(\.values)
            .filter(filter.matches)
            .map { (key: Self.key(of: $0.path), document: $0) }
            .filter { key.lexicographicallyPrecedes($0.key) }
            .sorted { $0.key.lexicographicallyPrecedes($1.key) }
        let most = AnswerSize.count(
            of: rest.lazy.prefix(request.limit).map(\.document),
            upTo: request.maximumBytes
        )
        let part = rest.prefix(most)
        // Documents that change during the copy follow in the log from the start of the copy.
        let isDone = part.count == rest.count
        let next: MemoryCursor =
            isDone ? .log(start) : .copy(after: part.last?.key ?? key, start: start)
        let isCaughtUp = isDone && start == lastSequence
        return ChangePage(
            changes: part.map { .current($0.document) },
            next: cursor(next),
            isCaughtUp: isDone && start == lastSequence,
            time: isDone && start == lastSequence ? time : nil,
            acknowledged: isCaughtUp ? acknowledged(request.clients) : [:]
        )
    }

    private static func key(of path: DocumentPath) -> [UInt8] {
        var key: [UInt8] = []
        IndexKey.append(path: path, to: &key)
        return key
    }

    private func firstIndex(after sequence: Int64) -> Int {
        var low = 0
        var high = log.count
        while low < high {
            let middle = (low + high) / 2
            if log[middle].sequence <= sequence { low = middle + 1 } else { high = middle }
        }
        return low
    }
}

private enum MemoryCursor {
    case copy(after: [UInt8], start: Int64)
    case log(Int64)

    init?(_ cursor: ChangeCursor, of epoch: [UInt8], from start: Int64) {
        guard let kind = cursor.bytes.first, cursor.bytes.dropFirst().starts(with: epoch) else {
            return nil
        }
        let rest = cursor.bytes.dropFirst(1 + epoch.count)
        // A client may send other numbers than it has received, so the sum must not trap.
        switch Int(kind) {
        case 0 where rest.count >= 9:
            let start = Int64(bigEndianBytes: rest.prefix(8))
            self = .copy(after: Array(rest.dropFirst(8)), start: start)
        case Self.logKind + rest.count where rest.count <= 8:
            self = .log(start &+ Int64(bigEndianBytes: rest))
        default: return nil
        }
    }

    /// The first byte of a position in the log, to which the number of its digits is added: positions are compared by
    /// bytes.
    private static let logKind = 0x10

    func cursor(of epoch: [UInt8], from start: Int64) -> ChangeCursor {
        switch self {
        case .copy(let key, let start):
            let head = [UInt8(0)] + epoch
            return ChangeCursor(bytes: head + start.bigEndianBytes + key)
        case .log(let sequence):
            // A state of the past can be older than the first change.
            let digits = max(0, sequence &- start).bigEndianBytes.drop { $0 == 0 }
            return ChangeCursor(bytes: [UInt8(Self.logKind + digits.count)] + epoch + digits)
        }
    }
}
