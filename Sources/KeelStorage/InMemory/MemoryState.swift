/// The documents and the change log of a memory adapter.
struct MemoryState: Sendable {
    typealias Documents = [DocumentPath: Document]

    private(set) var collections: [CollectionPath: Documents] = [:]
    private var log: [(sequence: Int64, path: DocumentPath, revision: Revision)] = []
    /// The sequence of the last change, also when the log has been trimmed.
    private(set) var lastSequence: Int64 = 0
    /// The highest sequence that the log no longer has.
    private var trimmedUpTo: Int64 = 0
    private let keptChanges: Int
    private var receipts: [String: CommitReceipt] = [:]
    private(set) var schema = StorageSchema()

    init(keptChanges: Int) { self.keptChanges = keptChanges }

    mutating func add(_ added: StorageSchema) {
        schema.indexes += added.indexes.filter { !schema.indexes.contains($0) }
        schema.searches += added.searches.filter { !schema.searches.contains($0) }
    }

    subscript(path: DocumentPath) -> Document? { collections[path.collection]?[path] }

    // MARK: Writing

    /// Applies a batch whole, or leaves everything as it was.
    mutating func apply(
        _ batch: WriteBatch,
        at now: Timestamp
    ) throws(StorageError) -> CommitReceipt {
        if let id = batch.id, let receipt = receipts[id] { return receipt }
        if let reads = batch.reads {
            try StorageEvaluator.check(
                reads,
                current: { path throws(StorageError) in self[path] },
                found: { query throws(StorageError) in try result(of: query).documents }
            )
        }
        let time = max(now, Timestamp(microseconds: lastSequence + 1))
        // All writes are worked out first; what fails has then changed nothing.
        var drafts: [DocumentPath: Document?] = [:]
        var effects: [(StorageEvaluator.Effect, DocumentPath)] = []
        var outcomes: [CommitReceipt.WriteOutcome] = []
        for write in batch.writes {
            let commit = StorageEvaluator.Commit(
                time: time,
                revision: time.microseconds + Int64(effects.count)
            )
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
        for (position, (effect, path)) in effects.enumerated() {
            take(effect, of: path, as: time.microseconds + Int64(position))
        }
        // A document written twice in one batch ends at the revision of the last write.
        for (position, write) in batch.writes.enumerated() {
            outcomes[position].revision = self[write.path]?.revision
        }
        trim()
        let receipt = CommitReceipt(
            batchID: batch.id,
            stage: .accepted,
            commitTime: time,
            outcomes: outcomes,
            position: position
        )
        if let id = batch.id { receipts[id] = receipt }
        return receipt
    }

    private mutating func take(
        _ effect: StorageEvaluator.Effect,
        of path: DocumentPath,
        as sequence: Int64
    ) {
        switch effect {
        case .none: return
        case .store(let document):
            collections[path.collection, default: [:]][path] = document
            log.append((sequence, path, document.revision))
        case .remove(let revision):
            collections[path.collection]?[path] = nil
            if collections[path.collection]?.isEmpty == true { collections[path.collection] = nil }
            log.append((sequence, path, revision))
        }
        lastSequence = sequence
    }

    private mutating func trim() {
        // Trimming in larger steps keeps the cost of moving the array small.
        guard log.count > keptChanges + keptChanges / 4 + 1 else { return }
        let surplus = log.count - keptChanges
        trimmedUpTo = log[surplus - 1].sequence
        log.removeFirst(surplus)
    }

    // MARK: Change log

    var position: ChangeCursor { MemoryCursor.log(lastSequence).cursor }

    func changes(_ request: ChangeRequest) throws(StorageError) -> ChangePage {
        guard let after = request.after else {
            return copyPage(from: 0, start: lastSequence, request)
        }
        switch MemoryCursor(after) {
        case .log(let sequence): return try logPage(after: sequence, request)
        case .copy(let index, let start): return copyPage(from: index, start: start, request)
        case nil:
            throw StorageError(.cursorExpired, "the cursor is not one of this store")
        }
    }

    private func logPage(
        after sequence: Int64,
        _ request: ChangeRequest
    ) throws(StorageError) -> ChangePage {
        guard sequence >= trimmedUpTo, sequence <= lastSequence else {
            throw StorageError(.cursorExpired, "the change log does not reach back to the cursor")
        }
        let start = firstIndex(after: sequence)
        let wanted = log[start...].filter { request.scope.contains($0.path.collection) }
        let part = wanted.prefix(request.limit)
        let isCaughtUp = part.count == wanted.count
        var latest: [DocumentPath: Int] = [:]
        for (index, entry) in part.enumerated() { latest[entry.path] = index }
        let changes = part.enumerated().filter { latest[$0.element.path] == $0.offset }
            .map { change(of: $0.element.path, revision: $0.element.revision) }
        let next = isCaughtUp ? lastSequence : part.last?.sequence ?? lastSequence
        return ChangePage(
            changes: changes,
            next: MemoryCursor.log(next).cursor,
            isCaughtUp: isCaughtUp
        )
    }

    private func change(of path: DocumentPath, revision: Revision) -> ChangePage.Change {
        self[path].map(ChangePage.Change.current) ?? .removed(path, revision)
    }

    /// Brings all documents, in the order of their paths, for a reader that begins from nothing.
    private func copyPage(from index: Int, start: Int64, _ request: ChangeRequest) -> ChangePage {
        let all = collections.filter { request.scope.contains($0.key) }.values
            .flatMap(\.values).sorted { $0.path < $1.path }
        let part = all.dropFirst(index).prefix(request.limit)
        let end = index + part.count
        // Documents may move while a copy is under way; the log from its start on brings them.
        let isDone = end >= all.count
        let next: MemoryCursor = isDone ? .log(start) : .copy(next: end, start: start)
        return ChangePage(
            changes: part.map(ChangePage.Change.current),
            next: next.cursor,
            isCaughtUp: isDone && start == lastSequence
        )
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

/// What the bytes of a memory adapter's cursor mean.
private enum MemoryCursor {
    case copy(next: Int, start: Int64)
    case log(Int64)

    init?(_ cursor: ChangeCursor) {
        let bytes = cursor.bytes
        guard let mode = bytes.first else { return nil }
        switch (mode, bytes.count) {
        case (0, 17):
            self = .copy(next: Int(Self.number(bytes[1..<9])), start: Self.number(bytes[9...]))
        case (1, 9): self = .log(Self.number(bytes[1...]))
        default: return nil
        }
    }

    var cursor: ChangeCursor {
        switch self {
        case .copy(let next, let start):
            ChangeCursor(bytes: [0] + Self.bytes(Int64(next)) + Self.bytes(start))
        case .log(let sequence): ChangeCursor(bytes: [1] + Self.bytes(sequence))
        }
    }

    private static func bytes(_ number: Int64) -> [UInt8] {
        (0..<8).map { UInt8(truncatingIfNeeded: number >> (56 - 8 * $0)) }
    }

    private static func number(_ bytes: ArraySlice<UInt8>) -> Int64 {
        bytes.reduce(0) { $0 << 8 | Int64($1) }
    }
}
