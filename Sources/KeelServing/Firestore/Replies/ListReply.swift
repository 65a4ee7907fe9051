import KeelStorage
import KeelStorageFirestore

/// The reply to `list`: the documents of a page of the listing, and where the next one begins.
struct ListReply: ReplyPieces {
    private let exchange: FirestoreExchange
    private let orders: [DocumentQuery.Order]
    private let mask: [FieldPath]?
    private var left: Int
    private var pages: QueryPages?
    private var entries: ArraySlice<ListedDocument>
    private var last: ListedDocument?
    private var isOver = false

    /// Creates a reply of what a query finds, which asks for one more than are listed.
    init(
        of size: Int,
        to query: DocumentQuery,
        _ mask: [FieldPath]?,
        of exchange: FirestoreExchange,
        _ snapshot: FirestoreExchange.Snapshot
    ) {
        self.init(of: size, [], query.orders, mask, of: exchange)
        pages = QueryPages(of: query, in: exchange, snapshot)
    }

    /// Creates a reply of entries, one more than are listed if there are more.
    init(
        of size: Int,
        _ entries: [ListedDocument],
        _ orders: [DocumentQuery.Order],
        _ mask: [FieldPath]?,
        of exchange: FirestoreExchange
    ) {
        self.exchange = exchange
        self.orders = orders
        self.mask = mask
        left = size
        self.entries = entries[...]
    }

    mutating func next() async throws(StorageError) -> [UInt8]? {
        guard !isOver else { return nil }
        var bytes: [UInt8] = []
        if last == nil { bytes += #"{"documents":["#.utf8 }
        while bytes.count < ReplyBody.pieceSize {
            if entries.isEmpty, let page = try await pages?.next() {
                entries = page.documents.map(ListedDocument.found)[...]
            }
            guard left > 0, let entry = entries.popFirst() else {
                isOver = true
                end(&bytes)
                break
            }
            if last != nil { bytes.append(UInt8(ascii: ",")) }
            try append(entry, to: &bytes)
            last = entry
            left -= 1
        }
        return bytes
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

    private func end(_ bytes: inout [UInt8]) {
        bytes.append(UInt8(ascii: "]"))
        if !entries.isEmpty, let last {
            bytes += #","nextPageToken":""#.utf8
            bytes += PageToken(last.bound(in: orders), exchange.encoding).text.utf8
            bytes.append(UInt8(ascii: "\""))
        }
        bytes.append(UInt8(ascii: "}"))
    }
}
