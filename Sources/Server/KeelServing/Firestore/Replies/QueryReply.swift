import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

/// The reply to `runQuery`, with one message per document.
struct QueryReply: ReplyPieces {
    private let exchange: FirestoreExchange
    private let query: DocumentQuery
    private let snapshot: FirestoreExchange.Snapshot
    private let explanation: QueryExplanation?
    private var pages: QueryPages
    private var list: ReplyList?
    private var hasBegun = false
    private var documents: [Document] = []
    private var unreadable = UnreadableDocuments()
    private var time = FirestoreJSON.null
    private var result = ReadResult(.found([]))
    private var count = 0
    /// Whether the result has lost its beginning.
    private var isEnd = false
    private var size: AnswerSize

    init(
        to query: DocumentQuery,
        of exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot,
        _ explanation: QueryExplanation?
    ) throws(StorageError) {
        self.exchange = exchange
        self.query = query
        self.snapshot = snapshot
        self.explanation = explanation
        let most = try exchange.mostBytes()
        // A query limited to its last documents leaves out its beginning, all others their end.
        let isFromEnd = if case .last = query.limit { true } else { false }
        pages = QueryPages(of: query, in: exchange, snapshot, end: isFromEnd ? most : nil)
        size = AnswerSize(most: isFromEnd ? nil : most)
    }

    var isOver: Bool { hasBegun && list == nil }

    var failure: StorageError? { exchange.failure(unreadable) }

    func keepMoment() async throws(StorageError) { try await pages.keepMoment() }

    mutating func next() async throws(StorageError) -> [UInt8]? {
        if !hasBegun { try await begin() }
        guard var list = list.take() else { return nil }
        while list.count < ReplyBody.pieceSize {
            let isPartial = size.isFull && (!documents.isEmpty || pages.mayHaveMore)
            if !isPartial, let document = documents.popLast() {
                size.add(document)
                do throws(StorageError) {
                    try list.append("document", at: time) { bytes throws(StorageError) in
                        try exchange.append(document, pages.projection, to: &bytes)
                    }
                } catch {
                    try unreadable.add([UnreadableDocument(document.path, error)])
                }
            } else if !isPartial, let page = try await pages.next() {
                try take(page)
            } else {
                if isPartial { await pages.end() }
                return list.finish(
                    at: time,
                    // Without results, the number of skipped documents is unknown.
                    skipped: count > 0 ? query.offset : 0,
                    metrics: explanation?.metrics(result.plan, of: query, count: count),
                    addition: exchange.addition(result, unreadable, isPartial: isPartial || isEnd)
                )
            }
        }
        let piece = list.take()
        self.list = list
        return piece
    }

    private mutating func begin() async throws(StorageError) {
        hasBegun = true
        guard let page = try await pages.next() else { return }
        result = page.result
        if case .last = query.limit { isEnd = result.isPartial }
        result.payload = .found([])
        result.plan?.examined = 0
        try take(page)
        let reads = exchange.reads(of: query, page.documents)
        let token = try await exchange.record(reads, at: result.position, in: snapshot)
        list = ReplyList(first: token)
    }

    private mutating func take(_ page: QueryPages.Page) throws(StorageError) {
        try unreadable.add(page.result.unreadable)
        // Reversed, so that each document is released when it is sent.
        documents = page.documents.reversed()
        count += page.documents.count
        time = exchange.readTime(of: page.result, page.documents)
        result.plan?.examined += page.result.plan?.examined ?? 0
    }
}
