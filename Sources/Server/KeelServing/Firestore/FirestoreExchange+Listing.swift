import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// `list`: returns a page of the documents of a collection.
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
        _ = try await record(reads, at: position, in: snapshot)
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

    /// Returns missing documents that have descendants, in the listed range and in the listing's order.
    ///
    /// After each document, the walk skips its descendants, so the cost of a page is about proportional to its size.
    private func missingDocuments(
        of collection: CollectionPath,
        within query: DocumentQuery,
        most: Int,
        asOf time: Timestamp?
    ) async throws(StorageError) -> [DocumentPath] {
        let isDescending = query.orders[0].direction == .descending
        let prefix = "\(collection.string)/"
        func bound(_ path: DocumentPath, isInclusive: Bool) -> DocumentQuery.Bound {
            DocumentQuery.Bound([.reference(path)], isInclusive: isInclusive)
        }
        // The position after a document and its descendants: the next possible id.
        func behind(_ id: String) -> DocumentPath {
            DocumentPath(trusted: collection, id: id + "\u{0}")
        }
        let first = bound(behind(""), isInclusive: true)
        let next = CollectionPath(trusted: collection.string + "\u{0}")
        let end = bound(DocumentPath(trusted: next, id: "\u{0}"), isInclusive: false)
        var walked = DocumentQuery.everything(under: collection.parent)
            .order(by: .documentID, isDescending ? .descending : .ascending).select()
        (walked.start, walked.end) = isDescending ? (end, first) : (first, end)
        if case .reference(let last)? = query.start?.values.first {
            walked.start =
                isDescending
                ? bound(last, isInclusive: false) : bound(behind(last.id), isInclusive: true)
        }
        var walk = NameWalk(walked, asOf: time)
        var candidates: [DocumentPath] = []
        var last: DocumentPath?
        var visited = 0
        var size = 8
        while visited < most, let names = try await walk.next(size, in: self) {
            let before = visited
            for path in names where path.string.utf8.starts(with: prefix.utf8) {
                let below = path.string.utf8.dropFirst(prefix.utf8.count)
                let id = String(decoding: below.prefix { $0 != UInt8(ascii: "/") }, as: UTF8.self)
                let listed = DocumentPath(trusted: collection, id: id)
                guard listed != last else { continue }
                last = listed
                visited += 1
                if path != listed, !StoredName.isReserved(id) { candidates.append(listed) }
            }
            guard let last else { break }
            walk.move(
                to: isDescending
                    ? bound(last, isInclusive: false) : bound(behind(last.id), isInclusive: true)
            )
            // If documents have many descendants, most of a larger page would be skipped.
            size = min(max(2, 2 * (visited - before)), 300)
        }
        guard isDescending else { return candidates }
        // In descending order, a document follows its descendants.
        let existing = try await existing(Set(candidates), asOf: time)
        return candidates.filter { !existing.contains($0) }
    }

    private func orders(_ text: String) throws(StorageError) -> [DocumentQuery.Order] {
        guard !text.isEmpty else { return [] }
        var orders: [DocumentQuery.Order] = []
        for part in text.split(separator: ",", omittingEmptySubsequences: false) {
            let words = part.split(separator: " ")
            guard let name = words.first, words.count <= 2 else {
                throw FirestoreDecoding.flaw("“orderBy” is not a list of fields")
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
            throw FirestoreDecoding.flaw("“\(name)” is not an integer")
        }
        return number
    }
}
