internal import KeelStorage
internal import KeelStorageAdapting

/// Some entries, in the order in which they were put in.
struct OutboxPage {
    /// The entries.
    ///
    /// Those whose place nobody knows, because nothing of them can be read, come first.
    var items: [OutboxItem]
    /// The document that the next page comes after; nil if there is none.
    var last: Document?
}

extension OutboxCore {
    /// Returns entries in the order in which they were put in.
    ///
    /// One that cannot be read is among them where the store finds it by what is left of it: only
    /// ``damagedEntries()`` has all of these.
    func page(
        _ status: String,
        after last: Document? = nil,
        limit: Int
    ) async throws(StorageError) -> OutboxPage {
        try await prepare()
        var query = DocumentQuery(collection).where(.equal("status", .string(status)))
            .order(by: "at").order(by: "position").limit(to: limit)
        if let last { query = query.start(after: last) }
        return try await page(query, limit)
    }

    private func page(
        _ query: DocumentQuery,
        _ limit: Int
    ) async throws(StorageError) -> OutboxPage {
        var request = ReadRequest(.query(try client.check(query, for: "outbox")))
        request.reportsUnreadable = true
        let result = try await client.read(request, for: "outbox")
        guard case .found(let documents) = result.payload else { return OutboxPage(items: []) }
        let moment = moment
        let unreadable = result.unreadable.map { OutboxItem.damaged(DamagedOutboxEntry($0)) }
        return OutboxPage(
            items: unreadable + documents.map { OutboxItem($0, at: moment) },
            last: documents.count == limit ? documents.last : nil
        )
    }

    /// Every entry that can be read.
    func allEntries(_ status: String) async throws(StorageError) -> [OutboxEntry] {
        var all: [OutboxEntry] = []
        var last: Document?
        repeat {
            let page = try await page(status, after: last, limit: 500)
            all += page.items.compactMap(\.entry)
            last = page.last
        } while last != nil
        return all
    }

    /// Whether there is an entry that waits to be sent.
    func hasPending() async throws(StorageError) -> Bool {
        var last: Document?
        repeat {
            let page = try await page(OutboxEntry.pendingStatus, after: last, limit: 10)
            if page.items.contains(where: { $0.entry != nil }) { return true }
            last = page.last
        } while last != nil
        return false
    }

    /// Every entry that cannot be read, by its id, which takes reading them all.
    func damagedEntries() async throws(StorageError) -> [DamagedOutboxEntry] {
        // By their ids: a condition on a field would pass over those that do not have it.
        let all = DocumentQuery(collection).order(by: .documentID).limit(to: 500)
        var damaged: [String: DamagedOutboxEntry] = [:]
        var last: Document?
        repeat {
            let page = try await page(last.map { all.start(after: $0) } ?? all, 500)
            for entry in page.items.compactMap(\.damaged) { damaged[entry.id] = entry }
            last = page.last
        } while last != nil
        return damaged.values.sorted { $0.id < $1.id }
    }

    /// What is there at the place of a write; nil if nothing is.
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
