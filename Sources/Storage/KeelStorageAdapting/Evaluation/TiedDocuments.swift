package import KeelDocuments

/// A buffer of documents whose index entries have keys that were cut after the same bytes.
///
/// Such entries are adjacent in the index, but not in the order of their documents (``EntryKey``). The buffer holds one
/// tie at a time, and only the documents that the result may still need.
package struct TiedDocuments: Sendable {
    private enum Part: Sendable {
        case field(CompiledFieldPath)
        case id
        case path
    }

    private let parts: [Part]
    private let room: Int
    private let maximumBytes: Int?

    private var found: [(key: [UInt8], document: Document)] = []
    private var tie: [UInt8] = []
    private var size: AnswerSize
    /// The number of documents that the result may still need; nil for no limit.
    private var most: Int?
    /// The number of those documents that the offset skips, whose size does not count.
    private var skipped = 0

    package init(_ scan: QueryPlanner.Scan, maximumBytes: Int?) {
        parts = scan.orders.map { order in
            guard order.field.isDocumentID else { return .field(CompiledFieldPath(order.field)) }
            return scan.index.scope == .collection ? .id : .path
        }
        room = max(0, EntryKey.longest - scan.fixedLength)
        self.maximumBytes = maximumBytes
        size = AnswerSize(most: maximumBytes)
    }

    package var isEmpty: Bool { found.isEmpty }

    /// Returns the common key prefix of the document's tie; nil if the document's key is not cut.
    ///
    /// Entries with keys shorter than ``EntryKey/longestComponent`` never have a tie.
    package func tie(of document: Document) -> [UInt8]? {
        var key: [UInt8] = []
        for part in parts {
            let start = key.count
            switch part {
            case .field(let field):
                guard document.body.appendKey(of: field, to: &key) else { return nil }
            case .id: IndexKey.append(id: document.id, to: &key)
            case .path: IndexKey.append(path: document.path, to: &key)
            }
            if EntryKey.cutComponent(&key, from: start) || key.count > room {
                return Array(key.prefix(room))
            }
        }
        return nil
    }

    package func isEnded(by tie: [UInt8]?) -> Bool { !found.isEmpty && tie != self.tie }

    /// Begins a tie.
    ///
    /// - Parameters:
    ///   - tie: The common key prefix of its documents.
    ///   - most: The number of documents that the result may still need; nil for no limit.
    ///   - skipped: The number of those documents that the offset skips.
    package mutating func begin(_ tie: [UInt8], most: Int?, skipped: Int) {
        (self.tie, self.most, self.skipped) = (tie, most, skipped)
        size = AnswerSize(most: maximumBytes)
    }

    /// Adds a document of the tie with its sort key.
    ///
    /// - Throws: Only `StorageError/Code/cancelled`.
    package mutating func add(
        _ document: Document,
        at key: [UInt8],
        isCancellable: Bool
    ) throws(StorageError) {
        found.append((key, document))
        size.add(document, with: key.count)
        let isLong = most.map { found.count > 2 * $0 + 1_000 } ?? false
        guard isLong || size.isFarOver else { return }
        try PreparedQuery.sort(&found, isCancellable: isCancellable)
        if let most, found.count > most { found.removeLast(found.count - most) }
        size = AnswerSize(most: maximumBytes)
        var count = 0
        for place in found where !size.isFull {
            count += 1
            if count > skipped { size.add(place.document, with: place.key.count) }
        }
        found.removeLast(found.count - count)
    }

    /// Ends the tie.
    ///
    /// - Returns: The documents of the tie with their sort keys, in order.
    /// - Throws: Only `StorageError/Code/cancelled`.
    package mutating func end(
        isCancellable: Bool
    ) throws(StorageError) -> [(key: [UInt8], document: Document)] {
        try PreparedQuery.sort(&found, isCancellable: isCancellable)
        defer { found.removeAll(keepingCapacity: true) }
        return found
    }
}
