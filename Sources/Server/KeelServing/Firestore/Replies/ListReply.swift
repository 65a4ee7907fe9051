import KeelStorage
import KeelStorageFirestore

/// The reply to `list`: a page of documents, and the token of the next page.
struct ListReply: ReplyPieces {
    private let exchange: FirestoreExchange
    private let query: DocumentQuery
    private let mask: [FieldPath]?
    private var left: Int
    private var pages: QueryPages?
    /// The documents that are read but not sent yet, in reverse order.
    private var documents: [Document] = []
    private var missing: ArraySlice<DocumentPath>
    private var unreadable = UnreadableDocuments()
    private var last: ListedDocument?
    private var hasBegun = false
    private var hasEntry = false
    private(set) var isOver = false

    /// Creates a reply to a query with a limit of `size` + 1; without `documents`, it reads them while it is sent.
    init(
        of size: Int,
        to query: DocumentQuery,
        _ documents: [Document]?,
        _ missing: [DocumentPath],
        _ mask: [FieldPath]?,
        of exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot
    ) {
        self.exchange = exchange
        self.query = query
        self.mask = mask
        left = size
        self.missing = missing[...]
        if let documents {
            self.documents = documents.reversed()
        } else {
            pages = QueryPages(of: query, in: exchange, snapshot)
        }
    }

    var failure: StorageError? { unreadable.error }

    func keepMoment() async throws(StorageError) { try await pages?.keepMoment() }

    mutating func next() async throws(StorageError) -> [UInt8]? {
        guard !isOver else { return nil }
        var bytes: [UInt8] = []
        if !hasBegun { bytes += #"{"documents":["#.utf8 }
        hasBegun = true
        while bytes.count < ReplyBody.pieceSize {
            let entry = try await nextEntry()
            guard left > 0, let entry else {
                isOver = true
                end(&bytes, isLast: entry == nil)
                break
            }
            let start = bytes.count
            do throws(StorageError) {
                if hasEntry { bytes.append(UInt8(ascii: ",")) }
                try append(entry, to: &bytes)
                hasEntry = true
            } catch {
                bytes.removeLast(bytes.count - start)
                try unreadable.add([UnreadableDocument(entry.path, error)])
            }
            last = entry
            left -= 1
        }
        return bytes
    }

    private mutating func nextEntry() async throws(StorageError) -> ListedDocument? {
        while documents.isEmpty, let page = try await pages?.next() {
            // Reversed, so that each document is released when it is sent.
            documents = page.documents.reversed()
            try unreadable.add(page.result.unreadable)
        }
        if let path = missing.first, isBefore(path, documents.last?.path) {
            return missing.popFirst().map(ListedDocument.missing)
        }
        return documents.popLast().map(ListedDocument.found)
    }

    private func isBefore(_ path: DocumentPath, _ other: DocumentPath?) -> Bool {
        guard let other else { return true }
        return query.orders[0].direction == .ascending ? path < other : other < path
    }

    private func append(
        _ entry: ListedDocument,
        to bytes: inout [UInt8]
    ) throws(StorageError) {
        switch entry {
        case .found(let document): try exchange.append(document, mask, to: &bytes)
        case .missing(let path):
            let name = FirestoreJSON.string(exchange.encoding.name(of: path))
            FirestoreJSON.object([.init("name", name)]).append(to: &bytes)
        }
    }

    private func end(_ bytes: inout [UInt8], isLast: Bool) {
        bytes.append(UInt8(ascii: "]"))
        if !isLast, let last {
            bytes += #","nextPageToken":""#.utf8
            bytes += PageToken(last.bound(in: query.orders), exchange.encoding).text.utf8
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }
}

enum ListedDocument {
    case found(Document)
    /// A missing document with descendants.
    case missing(DocumentPath)

    var path: DocumentPath {
        switch self {
        case .found(let document): document.path
        case .missing(let path): path
        }
    }

    func bound(in orders: [DocumentQuery.Order]) -> DocumentQuery.Bound {
        let values = orders.map { order -> DocumentValue in
            if order.field.isDocumentID { return .reference(path) }
            guard case .found(let document) = self, let value = document[order.field] else {
                return .null
            }
            return value
        }
        return DocumentQuery.Bound(values, isInclusive: false)
    }
}
