import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// The fewest documents that a part of a partitioned query has, as with Google's service.
    static let smallestPartition = 128

    /// `partitionQuery`: names that divide a collection group into parts of about the same size.
    ///
    /// What all documents are called tells where to divide: that reads the whole store, and keeps
    /// the names in the group, or a sample of them where there are very many.
    func partitionQuery(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        guard parent == nil else {
            throw FirestoreDecoding.flaw("only a query of the whole database can be divided")
        }
        let time = try time(try body.text("readTime"))
        let most = try body.wholeNumber("partitionCount") ?? 0
        guard most > 0 else { throw FirestoreDecoding.flaw("“partitionCount” must be positive") }
        let size = try pageSize(try body.wholeNumber("pageSize"))
        let after = try PageToken(try body.text("pageToken"))?.name
        let group = try group(of: try body.object("structuredQuery"), under: parent)
        let sample = try await names(of: group, asOf: time)
        let sorted = sample.sorted
        let parts = max(1, sorted.count * sample.scale / Self.smallestPartition)
        let count = min(Int(min(most, Int64(parts - 1))), sorted.count)
        var points = (0..<count).map { sorted[($0 + 1) * sorted.count / (count + 1)] }[...]
        if let after {
            let last = try decoding.path(of: after)
            points = points.drop { !(last < $0) }
        }
        let page = points.prefix(size)
        let cursors = page.map { path -> FirestoreJSON in
            ["values": [encoding.value(.reference(path))]]
        }
        let isLast = page.count == points.count
        let token = isLast ? nil : page.last.map { PageToken(name: encoding.name(of: $0)).text }
        return FirestoreJSON.members([
            "partitions": .array(cursors),
            "nextPageToken": token.map(FirestoreJSON.string),
        ]).bytes
    }

    /// The names of a group's documents; none where the store cannot tell, which makes one part.
    private func names(
        of group: PreparedQuery,
        asOf time: Timestamp?
    ) async throws(StorageError) -> NameSample {
        var names = NameSample(configuration.mostNames)
        guard adapter.capabilities.contains(.changeLog) else { return names }
        try await surveyNames(for: "“partitionQuery”", since: time) { path in
            if group.covers(path.collection), !StoredName.isReserved(path.id) { names.insert(path) }
        }
        guard let time else { return names }
        // Not all that has been there meanwhile was there then.
        names.keep(try await existing(Set(names.sorted), asOf: time))
        return names
    }

    /// The collection group of a query that can be divided.
    private func group(
        of json: FirestoreJSON?,
        under parent: DocumentPath?
    ) throws(StorageError) -> PreparedQuery {
        let query = try checked(try decoding.query(json, under: parent))
        guard case .group = query.scope else {
            throw FirestoreDecoding.flaw("only a query with “allDescendants” can be divided")
        }
        let orders = query.orders.filter { $0 != DocumentQuery.Order(.documentID, .ascending) }
        guard query.filter == nil, orders.isEmpty, query.limit == nil, query.offset == 0,
            query.start == nil, query.end == nil, query.search == nil
        else {
            throw FirestoreDecoding.flaw(
                "a query that is divided has no filter, limit, offset or cursor, and no order but "
                    + "that of the names"
            )
        }
        return PreparedQuery(query)
    }
}
