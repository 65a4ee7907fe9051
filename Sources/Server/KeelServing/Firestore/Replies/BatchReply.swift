import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// A reply with one message per document: first the existing documents, then, for `batchGet`, the missing ones.
///
/// All documents are read at one moment if the store keeps a history or can hold another state. Otherwise each read
/// shows its own moment; the first covers up to ``StorageServer/Configuration/firstPageBytes`` and 10,000 names.
struct BatchReply: ReplyPieces {
    /// The maximum number of names per read, because adapters may look at all of them.
    private static let mostPaths = 10_000

    enum Kind {
        case batchGet, runQuery
    }

    private let exchange: FirestoreExchange
    private let mask: [FieldPath]?
    private let kind: Kind
    private var maximumBytes: Int
    private var time: Timestamp?
    private var moment: ReadMoment?
    private var rest: ArraySlice<DocumentPath>
    private var documents: [Document] = []
    private var unreadable = UnreadableDocuments()
    private var missing: ArraySlice<DocumentPath> = []
    private var told = FirestoreJSON.null
    private var result: ReadResult?
    private var list: ReplyList?
    private var hasBegun = false
    private let snapshot: FirestoreExchange.Snapshot
    private var size: AnswerSize
    /// Whether the reply ends before ``rest``, as the client asked for.
    private var isPartial = false

    init(
        _ kind: Kind,
        with paths: [DocumentPath],
        _ mask: [FieldPath]?,
        of exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot
    ) throws(StorageError) {
        self.kind = kind
        self.exchange = exchange
        self.mask = mask
        self.snapshot = snapshot
        time = snapshot.time
        rest = paths[...]
        // A transaction records all reads at once.
        maximumBytes =
            snapshot.notesReads
            ? exchange.configuration.mostBytesAtOnce : exchange.configuration.firstPageBytes
        let most = kind == .batchGet ? try exchange.mostBytes() : nil
        size = AnswerSize(most: most)
        maximumBytes = min(maximumBytes, most ?? .max)
    }

    var isOver: Bool { hasBegun && list == nil }

    var failure: StorageError? { exchange.failure(unreadable) }

    func keepMoment() async throws(StorageError) {
        if !rest.isEmpty { try await moment?.renew() }
    }

    mutating func next() async throws(StorageError) -> [UInt8]? {
        if !hasBegun { try await begin() }
        guard var list = list.take() else { return nil }
        while list.count < ReplyBody.pieceSize {
            if let document = documents.popLast() {
                do throws(StorageError) {
                    try list.append(kind == .batchGet ? "found" : "document", at: told) {
                        bytes throws(StorageError) in
                        try exchange.append(document, mask, to: &bytes)
                    }
                } catch {
                    try unreadable.add([UnreadableDocument(document.path, error)])
                }
            } else if !rest.isEmpty {
                _ = try await readOn()
            } else if let path = missing.popFirst() {
                // Like Google's service, the reply lists missing documents last.
                let name = FirestoreJSON.string(exchange.encoding.name(of: path))
                list.append("missing", at: told) { name.append(to: &$0) }
            } else {
                return list.finish(at: told, addition: addition)
            }
        }
        let piece = list.take()
        self.list = list
        return piece
    }

    private mutating func begin() async throws(StorageError) {
        hasBegun = true
        let reads = try await readOn()
        let token = try await exchange.record(reads, at: result?.position, in: snapshot)
        list = ReplyList(first: token)
    }

    private var addition: FirestoreJSON? {
        result.flatMap { exchange.addition($0, unreadable, isPartial: isPartial) }
    }

    private mutating func readOn() async throws(StorageError) -> TransactionReads {
        // A transaction reads everything at once. Some adapters ignore the limit of bytes.
        let asked = Array(snapshot.notesReads ? rest : rest.prefix(Self.mostPaths))
        var (found, result) = try await read(asked)
        for document in found.lazy.compactMap(\.self) { size.add(document) }
        if size.isFull, found.count < rest.count {
            isPartial = true
            rest = rest.prefix(found.count)
        }
        if time == nil, found.count < rest.count, !snapshot.notesReads {
            let first = result.time
            if isRepeatable {
                time = first
            } else if let moment = try await ReadMoment.present(
                of: exchange.adapter,
                exchange.configuration
            ) {
                self.moment = moment
                time = moment.time
                if moment.time != first { (found, result) = try await read(asked) }
            }
        }
        let paths = rest.prefix(found.count)
        rest = rest.dropFirst(found.count)
        if let moment { result.time = moment.time }
        if rest.isEmpty { await moment?.end() }
        guard rest.isEmpty || !snapshot.notesReads else {
            throw StorageError(
                .tooLarge,
                "a transaction reads more than \(maximumBytes >> 20) MiB at once; ask for less"
            )
        }
        maximumBytes = exchange.configuration.pageBytes
        told = exchange.readTime(of: result, found.lazy.compactMap(\.self))
        // Reversed, so that each document is released when it is sent.
        documents = found.reversed().compactMap(\.self)
        try unreadable.add(result.unreadable)
        if kind == .batchGet {
            missing += zip(paths, found)
                .filter { path, document in document == nil && !unreadable.contains(path) }
                .map(\.0)
        }
        if self.result == nil {
            self.result = result
            self.result?.payload = .documents([])
            self.result?.unreadable = []
        }
        return exchange.reads(of: Array(paths), found)
    }

    private var isRepeatable: Bool {
        exchange.adapter.capabilities.contains(.pointInTimeReads)
    }

    private func read(
        _ paths: [DocumentPath]
    ) async throws(StorageError) -> (documents: [Document?], result: ReadResult) {
        try await moment?.renew()
        return try await exchange.documents(
            paths,
            asOf: time,
            needsTime: true,
            maximumBytes: maximumBytes,
            reportsUnreadable: !snapshot.notesReads,
            needsMoment: time == nil,
            after: snapshot.earlierReads
        )
    }
}
