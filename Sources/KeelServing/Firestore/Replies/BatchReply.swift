import KeelStorage
import KeelStorageFirestore

/// A message for each of some documents: first what is there, then, for `batchGet`, what is not.
///
/// Over a store with a history, everything is of one moment. Over another, that holds for so many
/// documents as are read at once.
struct BatchReply: ReplyPieces {
    /// The most documents that are read at once.
    private static let mostAtOnce = 300

    /// Which method's messages they are.
    enum Kind {
        case batchGet, runQuery
    }

    private let exchange: FirestoreExchange
    private let mask: [FieldPath]?
    private let kind: Kind
    private let atOnce: Int
    private var time: Timestamp?
    private var rest: ArraySlice<DocumentPath>
    private var documents: ArraySlice<Document> = []
    private var missing: ArraySlice<DocumentPath> = []
    private var told = FirestoreJSON.null
    private var result: ReadResult?
    private var list: ReplyList?
    private var hasBegun = false
    private let snapshot: FirestoreExchange.Snapshot

    init(
        _ kind: Kind,
        with paths: [DocumentPath],
        _ mask: [FieldPath]?,
        of exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot
    ) {
        self.kind = kind
        self.exchange = exchange
        self.mask = mask
        self.snapshot = snapshot
        time = snapshot.time
        rest = paths[...]
        // A transaction notes all at once.
        atOnce = snapshot.notesReads ? .max : Self.mostAtOnce
    }

    mutating func next() async throws(StorageError) -> [UInt8]? {
        if !hasBegun { try await begin() }
        guard var list = list.take() else { return nil }
        while list.count < ReplyBody.pieceSize {
            if let document = documents.popFirst() {
                try list.append(kind == .batchGet ? "found" : "document", at: told) {
                    bytes throws(StorageError) in
                    try exchange.append(document, mask, to: &bytes)
                }
            } else if !rest.isEmpty {
                _ = try await readOn()
            } else if let path = missing.popFirst() {
                // Google's service tells last what is missing.
                let name = FirestoreJSON.string(exchange.encoding.name(of: path))
                list.append("missing", at: told) { name.append(to: &$0) }
            } else {
                return list.finish(at: told, addition: result.flatMap(exchange.addition))
            }
        }
        let piece = list.take()
        self.list = list
        return piece
    }

    private mutating func begin() async throws(StorageError) {
        hasBegun = true
        let reads = try await readOn()
        list = ReplyList(first: try exchange.record(reads, in: snapshot))
    }

    /// Reads the next documents.
    private mutating func readOn() async throws(StorageError) -> TransactionReads {
        let paths = Array(rest.prefix(atOnce))
        rest = rest.dropFirst(paths.count)
        let (found, result) = try await exchange.documents(paths, asOf: time, needsTime: true)
        time = time ?? result.time
        told = exchange.readTime(of: result, found.lazy.compactMap(\.self))
        documents = found.compactMap(\.self)[...]
        if kind == .batchGet { missing += zip(paths, found).filter { $0.1 == nil }.map(\.0) }
        if self.result == nil {
            self.result = result
            self.result?.payload = .documents([])
        }
        return exchange.reads(of: paths, found)
    }
}
