internal import KeelStorage
internal import KeelStorageAdapting

struct OutboxPage {
    /// The entries; those whose position cannot be read come first.
    var items: [OutboxItem]
    /// The document after which the next page starts; nil on the last page.
    var last: Document?
}

extension OutboxCore {
    /// The approximate maximum size of a page, in bytes: a body may have almost 1 MiB.
    static var pageByteCount: Int { 4 << 20 }

    /// Returns the entries with a status, or all if it is nil, in the order in which they were enqueued.
    ///
    /// Includes only the unreadable entries that the store can match by their remaining fields; ``damagedEntries()``
    /// returns all of them.
    func page(
        _ status: String?,
        after last: Document? = nil,
        limit: Int
    ) async throws(StorageError) -> OutboxPage {
        try await prepare()
        var query = DocumentQuery(collection)
        if let status { query = query.where(.equal("status", .string(status))) }
        query = query.order(by: "at").order(by: "position").limit(to: limit)
        if let last { query = query.start(after: last) }
        return try await page(query, limit)
    }

    private func page(
        _ query: DocumentQuery,
        _ limit: Int
    ) async throws(StorageError) -> OutboxPage {
        var request = ReadRequest(.query(try client.check(query, for: "outbox")))
        request.reportsUnreadable = true
        request.maximumBytes = Self.pageByteCount
        let result = try await client.read(request, for: "outbox")
        guard case .found(let documents) = result.payload else { return OutboxPage(items: []) }
        let moment = moment
        let unreadable = result.unreadable.map { OutboxItem.damaged(DamagedOutboxEntry($0)) }
        return OutboxPage(
            items: unreadable + documents.map { OutboxItem($0, at: moment) },
            last: documents.count == limit || result.isPartial ? documents.last : nil
        )
    }

    func allEntries(_ status: String) async throws(StorageError) -> [OutboxEntry] {
        var all: [OutboxEntry] = []
        try await visit(status) { all.append($0) }
        return all
    }

    /// Returns the keys of all readable entries with a status, and whether the last write of each is marked.
    func marks(
        _ status: String,
        _ isMarked: (OutboxWrite) -> Bool
    ) async throws(StorageError) -> [String: Bool] {
        var marks: [String: Bool] = [:]
        try await visit(status) { marks[$0.write.key] = isMarked($0.write) }
        return marks
    }

    private func visit(
        _ status: String,
        _ body: (OutboxEntry) -> Void
    ) async throws(StorageError) {
        var last: Document?
        repeat {
            let page = try await page(status, after: last, limit: 500)
            for entry in page.items.compactMap(\.entry) { body(entry) }
            last = page.last
        } while last != nil
    }

    func hasPending() async throws(StorageError) -> Bool {
        var last: Document?
        repeat {
            let page = try await page(OutboxEntry.pendingStatus, after: last, limit: 10)
            if page.items.contains(where: { $0.entry != nil }) { return true }
            last = page.last
        } while last != nil
        return false
    }

    /// Returns all unreadable entries, sorted by id, and reads all entries for it.
    func damagedEntries() async throws(StorageError) -> [DamagedOutboxEntry] {
        var damaged: [String: DamagedOutboxEntry] = [:]
        try await visitAll { for entry in $0.compactMap(\.damaged) { damaged[entry.id] = entry } }
        return damaged.values.sorted { $0.id < $1.id }
    }

    /// Returns the paths of the entries that meet a condition, readable or not.
    func allPaths(
        where isWanted: (OutboxItem) -> Bool = { _ in true }
    ) async throws(StorageError) -> Set<DocumentPath> {
        var paths: Set<DocumentPath> = []
        try await visitAll { items in
            for item in items where isWanted(item) { paths.insert(collection.document(item.id)) }
        }
        return paths
    }

    func allKeys() async throws(StorageError) -> Set<String> {
        var keys: Set<String> = []
        try await visitAll { keys.formUnion($0.compactMap(\.key)) }
        return keys
    }

    func hasEntry(withKey key: String, pending isPending: Bool) async throws(StorageError) -> Bool {
        try await prepare()
        let all = DocumentQuery(collection).where(.equal("key", .string(key)))
            .order(by: .documentID).limit(to: 8)
        var last: Document?
        repeat {
            let page = try await page(last.map { all.start(after: $0) } ?? all, 8)
            let isFound = page.items.contains { item in
                isPending ? item.entry?.isRejected == false : item.key == key
            }
            if isFound { return true }
            last = page.last
        } while last != nil
        return false
    }

    private func visitAll(_ visit: ([OutboxItem]) -> Void) async throws(StorageError) {
        // Ordered by id, because ordering or filtering by a field omits the documents without it.
        let all = DocumentQuery(collection).order(by: .documentID).limit(to: 500)
        var last: Document?
        repeat {
            let page = try await page(last.map { all.start(after: $0) } ?? all, 500)
            visit(page.items)
            last = page.last
        } while last != nil
    }

    func item(_ id: String) async throws(StorageError) -> OutboxItem? {
        try await items(withIDs: [id]).first ?? nil
    }

    func items(withIDs ids: [String]) async throws(StorageError) -> [OutboxItem?] {
        var request = ReadRequest(.documents(ids.map(collection.document)))
        request.reportsUnreadable = true
        let result = try await client.read(request, for: "outbox")
        guard case .documents(let documents) = result.payload else { return [] }
        return zip(documents, ids).map { item($0, $1, in: result) }
    }

    func item(_ document: Document?, _ id: String, in result: ReadResult) -> OutboxItem? {
        if let document { return OutboxItem(document, at: moment) }
        let path = collection.document(id)
        return result.unreadable.first { $0.path == path }
            .map { .damaged(DamagedOutboxEntry($0)) }
    }
}
