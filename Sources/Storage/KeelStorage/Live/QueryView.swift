package import KeelDocuments
package import KeelStorageAdapting

/// The result of a query, updated change by change, as a pure state machine.
///
/// For a query with a limit, it keeps some documents beyond the limit in reserve, and needs a new read only when
/// removals have used them up.
package struct QueryView: Sendable {
    package enum Outcome: Sendable {
        case unchanged
        case changed([DocumentChange])
        case needsRead
    }

    private let prepared: PreparedQuery
    private var capacity: Int?
    private var keys: [[UInt8]] = []
    private var kept: [Document] = []
    private var places: [DocumentPath: [UInt8]] = [:]
    package private(set) var bytes = 0
    private var isComplete = true
    private var told: [Entry] = []
    private var unreadable: [DocumentPath: UnreadableDocument] = [:]
    private var offset: Int

    package init(_ query: DocumentQuery) {
        prepared = PreparedQuery(query)
        capacity = prepared.window.map {
            min($0 + max(16, $0 / 2), QueryValidation.mostDocuments)
        }
        offset = query.offset
    }

    /// The query to read for ``load(_:)``, including the reserve and all fields.
    package var readQuery: DocumentQuery {
        prepared.query.with { query in
            query.projection = nil
            query.offset = 0
            guard let capacity else { return }
            switch query.limit {
            case .first?: query.limit = .first(capacity)
            case .last?: query.limit = .last(capacity)
            case nil: break
            }
        }
    }

    /// The result after the last steps, also while a read is needed.
    package var documents: [Document] { isWindowed ? told.map(\.document) : kept }

    /// Returns the document at a path, if it is in the result.
    package func document(at path: DocumentPath) -> Document? {
        guard let index = places[path].flatMap(index), index >= offset,
            prepared.limit.map({ index - offset < $0 }) ?? true
        else { return nil }
        return kept[index]
    }

    /// The documents of the query's collections that cannot be read, by path.
    package var failures: [UnreadableDocument] {
        unreadable.isEmpty ? [] : unreadable.values.sorted { $0.path < $1.path }
    }

    private var isWindowed: Bool { prepared.window != nil || prepared.query.offset > 0 }

    // MARK: Reading

    /// Makes ``readQuery`` read further if documents that cannot be read have taken the places of others; returns
    /// whether the query must be read again.
    package mutating func readsFurther(than count: Int, unreadable failures: Int) -> Bool {
        guard let window = prepared.window, let most = capacity, count < window,
            count + failures >= most, failures <= UnreadableDocument.mostPassedOver
        else { return false }
        capacity = most + failures
        return true
    }

    /// Loads the result of reading ``readQuery``, in any order, and returns the steps from the previous result.
    ///
    /// With `isWindow`, `found` is the result itself, without a reserve; changes can then only be applied if the query
    /// has neither limit nor offset.
    package mutating func load(
        _ found: [Document],
        unreadable failures: [UnreadableDocument] = [],
        isWindow: Bool = false
    ) -> [DocumentChange] {
        offset = isWindow ? 0 : prepared.query.offset
        unreadable = Dictionary(failures.map { ($0.path, $0) }) { first, _ in first }
        let before = isWindowed ? told : window
        var entries: [(key: [UInt8], document: Document)] = found.compactMap { document in
            prepared.place(of: document).map { ($0, document) }
        }
        entries.sort { $0.key.lexicographicallyPrecedes($1.key) }
        keys = entries.map(\.key)
        kept = entries.map { prepared.project($0.document) }
        bytes = kept.reduce(0) { $0 + Self.size(of: $1) }
        places = Dictionary(
            zip(kept.map(\.path), keys),
            uniquingKeysWith: { first, _ in first }
        )
        isComplete = capacity.map { found.count + failures.count < $0 } ?? true
        return tell(since: before)
    }

    // MARK: Applying changes

    /// Applies changes up to one consistent position; a replica may have a lower revision than the document it
    /// replaced.
    package mutating func apply(_ changes: some Sequence<ChangePage.Change>) -> Outcome {
        let covered = changes.filter { prepared.covers($0.path.collection) }
        for change in covered { note(change) }
        let relevant = covered.filter(isNews)
        guard !relevant.isEmpty else { return .unchanged }
        // Sort keys do not contain words, so a search is read again.
        guard prepared.query.search == nil else { return .needsRead }
        guard isWindowed else {
            var steps: [DocumentChange] = []
            for change in relevant {
                if let step = step(for: change) { steps.append(step) }
            }
            return steps.isEmpty ? .unchanged : .changed(steps)
        }
        var hasMoved = false
        for change in relevant where step(for: change) != nil { hasMoved = true }
        if let window = prepared.window, kept.count < window, !isComplete { return .needsRead }
        guard hasMoved else { return .unchanged }
        trim()
        let steps = tell(since: told)
        return steps.isEmpty ? .unchanged : .changed(steps)
    }

    private mutating func tell(since before: [Entry]) -> [DocumentChange] {
        let now = window
        if isWindowed { told = now }
        return steps(from: before, to: now)
    }

    private mutating func note(_ change: ChangePage.Change) {
        if case .unreadable(let document) = change {
            unreadable[document.path] = document
        } else if !unreadable.isEmpty {
            unreadable[change.path] = nil
        }
    }

    private func isNews(_ change: ChangePage.Change) -> Bool {
        guard case .current(let document) = change, let key = places[change.path],
            let index = index(of: key)
        else { return true }
        return document.revision != kept[index].revision
            || prepared.project(document) != kept[index]
    }

    private mutating func step(for change: ChangePage.Change) -> DocumentChange? {
        let path = change.path
        let oldIndex = places[path].flatMap(index)
        var newKey: [UInt8]?
        if case .current(let document) = change { newKey = prepared.place(of: document) }
        // The view does not know what follows the last kept document, or anything if none is left.
        if let key = newKey, !isComplete,
            keys.last.map({ $0.lexicographicallyPrecedes(key) }) ?? true
        {
            newKey = nil
        }
        switch (oldIndex, newKey, change) {
        case (nil, let key?, .current(let document)):
            return DocumentChange(.added(at: insert(document, key)), prepared.project(document))
        case (let old?, let key?, .current(let document)):
            let new = move(from: old, to: document, key)
            return DocumentChange(.modified(from: old, to: new), kept[new])
        case (let old?, _, _):
            let document = kept[old]
            remove(at: old)
            return DocumentChange(.removed(from: old), document)
        default: return nil
        }
    }

    private mutating func move(from old: Int, to document: Document, _ key: [UInt8]) -> Int {
        // The index without the old document.
        let behind = lowerBound(of: key)
        let new = behind > old ? behind - 1 : behind
        let projected = prepared.project(document)
        bytes += Self.size(of: projected) - Self.size(of: kept[old])
        keys.replace(at: old, by: key, movedTo: new)
        kept.replace(at: old, by: projected, movedTo: new)
        places[document.path] = key
        return new
    }

    private mutating func insert(_ document: Document, _ key: [UInt8]) -> Int {
        let index = lowerBound(of: key)
        let projected = prepared.project(document)
        bytes += Self.size(of: projected)
        keys.insert(key, at: index)
        kept.insert(projected, at: index)
        places[document.path] = key
        return index
    }

    private mutating func remove(at index: Int) {
        keys.remove(at: index)
        let removed = kept.remove(at: index)
        bytes -= Self.size(of: removed)
        places[removed.path] = nil
    }

    private static func size(of document: Document) -> Int {
        var size = AnswerSize(most: Int.max)
        size.add(document)
        return size.bytes
    }

    private mutating func trim() {
        guard let capacity, kept.count > capacity else { return }
        for document in kept[capacity...] {
            bytes -= Self.size(of: document)
            places[document.path] = nil
        }
        kept.removeSubrange(capacity...)
        keys.removeSubrange(capacity...)
        isComplete = false
    }

    private func index(of key: [UInt8]) -> Int? {
        let index = lowerBound(of: key)
        return index < keys.count && keys[index] == key ? index : nil
    }

    private func lowerBound(of key: [UInt8]) -> Int {
        var low = 0
        var high = keys.count
        while low < high {
            let middle = (low + high) / 2
            if keys[middle].lexicographicallyPrecedes(key) {
                low = middle + 1
            } else {
                high = middle
            }
        }
        return low
    }

    // MARK: Windows

    private typealias Entry = (key: [UInt8], document: Document)

    /// The documents within offset and limit, in the order of the result.
    private var window: [Entry] {
        let entries = zip(keys, kept).dropFirst(offset)
        let limited = prepared.limit.map { Array(entries.prefix($0)) } ?? Array(entries)
        let result = limited.map { Entry(key: $0.0, document: $0.1) }
        return prepared.isReversed ? result.reversed() : result
    }

    /// Returns the steps between two windows: removals, then additions and changes in the new order.
    private func steps(from old: [Entry], to new: [Entry]) -> [DocumentChange] {
        let before = Dictionary(
            old.map { ($0.document.path, $0.document) },
            uniquingKeysWith: { first, _ in first }
        )
        let after = Set(new.map(\.document.path))
        var current = old
        var steps: [DocumentChange] = []
        for (index, entry) in old.enumerated().reversed()
        where !after.contains(entry.document.path) {
            current.remove(at: index)
            steps.append(DocumentChange(.removed(from: index), entry.document))
        }
        for entry in new {
            let known = before[entry.document.path]
            guard known != entry.document else { continue }
            guard known != nil,
                let oldIndex = current.firstIndex(where: { $0.document.path == entry.document.path }
                )
            else {
                let index = position(of: entry.key, in: current)
                current.insert(entry, at: index)
                steps.append(DocumentChange(.added(at: index), entry.document))
                continue
            }
            current.remove(at: oldIndex)
            let index = position(of: entry.key, in: current)
            current.insert(entry, at: index)
            steps.append(DocumentChange(.modified(from: oldIndex, to: index), entry.document))
        }
        return steps
    }

    private func position(of key: [UInt8], in entries: [Entry]) -> Int {
        var low = 0
        var high = entries.count
        while low < high {
            let middle = (low + high) / 2
            let isBefore =
                prepared.isReversed
                ? key.lexicographicallyPrecedes(entries[middle].key)
                : entries[middle].key.lexicographicallyPrecedes(key)
            if isBefore { low = middle + 1 } else { high = middle }
        }
        return low
    }
}
