package import KeelDocuments

/// Documents of a stretch of an index whose entries' keys are cut after the same bytes.
///
/// Such entries follow each other, and their order is not that of the documents (``EntryKey``). An adapter
/// collects them here until the tie ends, and takes them out in their order. Only one tie is held at a
/// time, and of it only what the result can still have.
package struct TiedDocuments: Sendable {
    private enum Part: Sendable {
        case field(CompiledFieldPath)
        case id
        case path
    }

    private let parts: [Part]
    /// How many bytes of a key are left for the parts.
    private let room: Int
    private let mostBytes: Int?

    private var found: [(key: [UInt8], document: Document)] = []
    private var tie: [UInt8] = []
    private var size: AnswerSize
    /// How many documents the result can still have; nil for any number.
    private var most: Int?
    /// How many of them its offset leaves out, which count no bytes.
    private var skipped = 0

    /// Creates an empty tie for a stretch.
    ///
    /// - Parameters:
    ///   - scan: The stretch.
    ///   - mostBytes: About how many bytes of documents the result may have; nil for any number.
    package init(_ scan: QueryPlanner.Scan, mostBytes: Int?) {
        parts = scan.orders.map { order in
            guard order.field.isDocumentID else { return .field(CompiledFieldPath(order.field)) }
            return scan.index.scope == .collection ? .id : .path
        }
        room = max(0, EntryKey.longest - scan.fixedLength)
        self.mostBytes = mostBytes
        size = AnswerSize(most: mostBytes)
    }

    /// Whether no document is held.
    package var isEmpty: Bool { found.isEmpty }

    /// What the keys of the documents of the same tie have in common; nil if the document's key is whole.
    ///
    /// It need not be asked for entries with keys shorter than ``EntryKey/longestComponent``.
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

    /// Whether a document, with its ``tie(of:)``, ends the tie that is held.
    package func isEnded(by tie: [UInt8]?) -> Bool { !found.isEmpty && tie != self.tie }

    /// Begins a tie.
    ///
    /// - Parameters:
    ///   - tie: What its documents have in common.
    ///   - most: How many documents the result can still have; nil for any number.
    ///   - skipped: How many of them its offset leaves out.
    package mutating func begin(_ tie: [UInt8], most: Int?, skipped: Int) {
        (self.tie, self.most, self.skipped) = (tie, most, skipped)
        size = AnswerSize(most: mostBytes)
    }

    /// Holds a document of the tie at its place.
    ///
    /// - Throws: `StorageError/Code/cancelled`, and nothing else.
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
        size = AnswerSize(most: mostBytes)
        var count = 0
        for place in found where !size.isFull {
            count += 1
            if count > skipped { size.add(place.document, with: place.key.count) }
        }
        found.removeLast(found.count - count)
    }

    /// Ends the tie.
    ///
    /// - Returns: Its documents in their order.
    /// - Throws: `StorageError/Code/cancelled`, and nothing else.
    package mutating func end(isCancellable: Bool) throws(StorageError) -> [Document] {
        try PreparedQuery.sort(&found, isCancellable: isCancellable)
        defer { found.removeAll(keepingCapacity: true) }
        return found.map(\.document)
    }
}
