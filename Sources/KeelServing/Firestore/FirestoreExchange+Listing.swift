import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// `list`: the documents of a collection, page by page.
    func listDocuments(of collection: CollectionPath) async throws(StorageError) -> ReplyBody {
        try items.check(
            "pageSize",
            "pageToken",
            "orderBy",
            "mask.fieldPaths",
            "showMissing",
            "transaction",
            "readTime"
        )
        let mask = try mask("mask.fieldPaths")
        var query = DocumentQuery(collection)
        query.orders = try orders(items["orderBy"] ?? "")
        let showsMissing = try items.flag("showMissing") ?? false
        guard !showsMissing || query.orders.allSatisfy({ $0.field.isDocumentID }) else {
            throw FirestoreDecoding.flaw("“showMissing” and “orderBy” exclude each other")
        }
        query = query.withCompleteOrders
        let size = try pageSize(try wholeNumber("pageSize"))
        if let token = try PageToken(items["pageToken"]) {
            query.start = DocumentQuery.Bound(try decoding.values(token.json), isInclusive: false)
        }
        query.limit = .first(size + 1)
        query = try checked(query)
        let snapshot = try await snapshotOfItems()
        var found: [Document]?
        var reads = TransactionReads()
        var position: ChangeCursor?
        if snapshot.notesReads {
            var pages = QueryPages(of: query, in: self, snapshot)
            let page = try await pages.next()
            let documents = page?.documents ?? []
            reads = self.reads(of: query, documents)
            position = page?.result.position
            found = documents
        }
        _ = try record(reads, at: position, in: snapshot)
        let missing =
            showsMissing
            ? try await missingDocuments(
                of: collection,
                within: query,
                most: size + 1,
                asOf: snapshot.time
            ) : []
        return try await made(
            by: ListReply(of: size, to: query, found, missing, mask, of: self, snapshot)
        )
    }

    /// The documents that are missing and have documents below them, in the part that is listed and
    /// in the listing's order.
    ///
    /// Stores do not list these; what all documents are called tells. That reads the whole store.
    private func missingDocuments(
        of collection: CollectionPath,
        within query: DocumentQuery,
        most: Int,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        let prefix = "\(collection.string)/"
        let isDescending = query.orders[0].direction == .descending
        var last: DocumentPath?
        if case .reference(let path) = query.start?.values.first { last = path }
        var missing: [DocumentPath] = []
        var isCut = true
        while isCut, missing.count < most {
            var first = FirstNames(configuration.mostNames, behind: last) { left, right in
                isDescending ? right < left : left < right
            }
            try await surveyNames(for: "“showMissing”", since: time) { path in
                guard path.string.utf8.starts(with: prefix.utf8) else { return }
                let below = path.string.dropFirst(prefix.count)
                guard let end = below.firstIndex(of: "/") else { return }
                let parent = DocumentPath(collection, String(below[..<end]))
                if !StoredName.isReserved(parent.id) { first.insert(parent) }
            }
            let parents = first.result.names
            (last, isCut) = (parents.last, first.result.isCut)
            var rest = parents[...]
            while missing.count < most, !rest.isEmpty {
                let part = rest.prefix(300)
                rest = rest.dropFirst(300)
                let existing = try await existing(Set(part), asOf: time)
                for path in part where !existing.contains(path) && missing.count < most {
                    if try await hasCollections(path, asOf: time) { missing.append(path) }
                }
            }
        }
        return missing
    }

    /// Whether a document had collections at a time: what is below it now need not have been there then.
    private func hasCollections(
        _ path: DocumentPath,
        asOf time: Timestamp?
    ) async throws(StorageError) -> Bool {
        guard let time else { return true }
        let result = try await read(.collections(under: path), asOf: time)
        guard case .names(let names) = result.payload else { return false }
        return !names.isEmpty
    }

    /// The orders of `orderBy`: `borough, rating desc`.
    private func orders(_ text: String) throws(StorageError) -> [DocumentQuery.Order] {
        guard !text.isEmpty else { return [] }
        var orders: [DocumentQuery.Order] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            guard let name = words.first, words.count <= 2 else {
                throw FirestoreDecoding.flaw("“orderBy” is no list of fields")
            }
            let field = try decoding.field(String(name))
            switch words.dropFirst().first?.lowercased() {
            case nil, "asc"?: orders.append(DocumentQuery.Order(field, .ascending))
            case "desc"?: orders.append(DocumentQuery.Order(field, .descending))
            default: throw FirestoreDecoding.flaw("an order of “orderBy” is neither asc nor desc")
            }
        }
        return orders
    }

    private func wholeNumber(_ name: String) throws(StorageError) -> Int64? {
        guard let text = items[name] else { return nil }
        guard let number = Int64(text) else {
            throw FirestoreDecoding.flaw("“\(name)” is no integer")
        }
        return number
    }
}
