public import KeelStorageAdapting

extension FirestoreStorageAdapter {
    /// The maximum number of documents per request.
    ///
    /// If there are more, later requests read at the time of the first reply, provided that the server supports reads
    /// of the past.
    static let mostDocuments = 300
    private static let anyDocument: DocumentPath = "keel/time"
    private static let mostNames = 300

    public func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        try check(request)
        return try await StorageContext.current.repeated().perform {
            () async throws(StorageError) in
            try await positioned(request)
        }
    }

    private func positioned(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        guard request.needsPosition else { return try await answer(request) }
        let session = await feed.session()
        var result = try await answer(request)
        result.position?.session = session
        return result
    }

    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        switch request.operation {
        case .documents(let paths):
            return try await documents(paths, request)
        case .query(let query):
            let (found, unreadable, addition, time) = try await found(query, request)
            var result = try result(.found(found), addition, at: time)
            result.unreadable += unreadable
            return result
        case .aggregate(let query, let aggregations):
            return try await values(of: aggregations, over: query, request)
        case .collections(let parent):
            return try await names(under: parent, request)
        }
    }

    private func check(_ request: ReadRequest) throws(StorageError) {
        guard configuration.isExtended || !request.isStrict else {
            throw StorageError(.unsupported, "Firestore has no strict mode")
        }
        if request.asOf != nil { try require(.pointInTimeReads, for: "a read of the past") }
        guard request.reads == nil, request.holdDuration == nil else {
            throw StorageError(
                .unsupported,
                "the protocol has no reads that depend on others, and holds no states"
            )
        }
        switch request.operation {
        case .documents: return
        case .query(let query):
            if query.search != nil { try require(.textSearch, for: "a search for words") }
        case .aggregate(let query, _):
            try require(.aggregation, for: "an aggregation")
            if query.search != nil { try require(.textSearch, for: "a search for words") }
        case .collections: try require(.collectionListing, for: "a list of collections")
        }
    }

    // MARK: Documents

    private func documents(
        _ paths: [DocumentPath],
        _ request: ReadRequest
    ) async throws(StorageError) -> ReadResult {
        var seen: Set<DocumentPath> = []
        let wanted = paths.filter { seen.insert($0).inserted }
        var known: [DocumentPath: Document] = [:]
        var size = AnswerSize(most: request.maximumBytes)
        var open: Set<DocumentPath> = []
        // The first reply has the earliest position: a listener that starts there misses nothing.
        var first: FirestoreJSON?
        var unreadable: [UnreadableDocument] = []
        var request = request
        let needsTime = request.needsTime
        if wanted.count > Self.mostDocuments, capabilities.contains(.pointInTimeReads) {
            request.needsTime = true
        }
        var time: Timestamp?
        var start = 0
        repeat {
            let part = wanted[start..<min(start + Self.mostDocuments, wanted.count)]
            guard !part.isEmpty || request.needsPosition || request.needsTime else { break }
            var reply = try await documents(part, request)
            if part.isEmpty, request.needsTime, reply.time == nil {
                // Google's emulator names no time where nothing was read.
                reply.time = (try? await documents([Self.anyDocument], request))?.time
            }
            known.merge(reply.found) { $1 }
            for document in reply.found.values { size.add(document) }
            open = reply.open
            unreadable += reply.unreadable
            if start == 0 {
                (first, time) = (reply.addition, needsTime ? reply.time : nil)
                request.asOf = request.asOf ?? reply.time
            }
            start += Self.mostDocuments
        } while start < wanted.count && open.isEmpty && !size.isFull
        if start < wanted.count { open.formUnion(wanted[start...]) }
        let answered = open.isEmpty ? paths[...] : paths.prefix { !open.contains($0) }
        var result = try result(.documents(answered.map { known[$0] }), first, at: time)
        result.unreadable = unreadable
        result.isPartial = answered.count < paths.count
        return result
    }

    /// Reads documents, in a transaction if one is given.
    ///
    /// - Returns: The existing documents, those that cannot be read, the paths that a partial reply leaves open, the
    ///   extension member of the reply, and the read time.
    func documents(
        _ paths: ArraySlice<DocumentPath>,
        _ request: ReadRequest? = nil,
        in transaction: String? = nil
    ) async throws(StorageError) -> (
        found: [DocumentPath: Document], unreadable: [UnreadableDocument],
        open: Set<DocumentPath>, addition: FirestoreJSON?, time: Timestamp?
    ) {
        let names = paths.map { FirestoreJSON.string(encoding.name(of: $0)) }
        var call = FirestoreCall(
            "batchGet",
            on: encoding.root,
            message(["documents": .array(names)], request, in: transaction)
        )
        call.isTransactional = transaction != nil
        let elements = try await elements(of: call)
        return try decoded { decoding throws(StorageError) in
            var found: [DocumentPath: Document] = [:]
            var unreadable = request?.reportsUnreadable == true ? [UnreadableDocument]() : nil
            var open = Set(paths)
            for element in elements {
                if let json = try element.object("found") {
                    if let document = try decoding.document(json, orAddTo: &unreadable) {
                        found[document.path] = document
                    }
                } else if let name = try element.text("missing") {
                    open.remove(try decoding.path(of: name))
                }
            }
            let addition = try self.addition(to: elements)
            let all = try (unreadable ?? []) + decoding.unreadable(in: addition)
            open.subtract(found.keys)
            open.subtract(all.map(\.path))
            let isPartial = try addition?.flag("partial") ?? false
            guard open.isEmpty || isPartial else {
                throw FirestoreDecoding.flaw("the reply omits \(open.count) documents")
            }
            let time = try time(of: elements, for: request)
            return (found, all, open, addition, time)
        }
    }

    // MARK: Queries

    /// Runs a query, in a transaction if one is given.
    ///
    /// - Returns: The matching documents in order, those that this client cannot decode, the extension member of the
    ///   reply, and the read time.
    func found(
        _ query: DocumentQuery,
        _ request: ReadRequest? = nil,
        in transaction: String? = nil
    ) async throws(StorageError) -> (
        documents: [Document], unreadable: [UnreadableDocument], addition: FirestoreJSON?,
        time: Timestamp?
    ) {
        let isReversed = if case .last = query.limit { !configuration.isExtended } else { false }
        let structured = try encoding.query(query, turnsRound: !configuration.isExtended)
        var call = FirestoreCall(
            "runQuery",
            on: encoding.parent(of: query.scope),
            message(["structuredQuery": structured], request, in: transaction)
        )
        call.isTransactional = transaction != nil
        let elements = try await elements(of: call)
        return try decoded { decoding throws(StorageError) in
            var documents: [Document] = []
            var unreadable = request?.reportsUnreadable == true ? [UnreadableDocument]() : nil
            for element in elements {
                guard let json = try element.object("document") else { continue }
                if let document = try decoding.document(json, orAddTo: &unreadable) {
                    documents.append(document)
                }
            }
            if isReversed { documents.reverse() }
            let addition = try self.addition(to: elements)
            let time = try time(of: elements, for: request)
            return (documents, unreadable ?? [], addition, time)
        }
    }

    private func values(
        of aggregations: [Aggregation],
        over query: DocumentQuery,
        _ request: ReadRequest
    ) async throws(StorageError) -> ReadResult {
        // Aggregations need fields that the projection may leave out.
        var whole = query.ordered(for: aggregations).with { $0.projection = nil }
        if case .everything = whole.scope {
            // The protocol takes no fields here; the server adds this order itself.
            whole.orders.removeAll { !$0.field.isDocumentID }
        }
        let structured = try encoding.aggregation(whole, aggregations)
        let call = FirestoreCall(
            "runAggregationQuery",
            on: encoding.parent(of: query.scope),
            message(["structuredAggregationQuery": structured], request)
        )
        let elements = try await elements(of: call)
        let (values, addition, time) = try decoded { decoding throws(StorageError) in
            let result = elements.lazy.compactMap { $0["result"] }.first
            guard let fields = try result?.object("aggregateFields") else {
                throw FirestoreDecoding.flaw("“aggregateFields” is missing")
            }
            var values: [DocumentValue] = []
            for position in aggregations.indices {
                guard let value = fields[FirestoreEncoding.alias(of: position)] else {
                    throw FirestoreDecoding.flaw("the value of an aggregation is missing")
                }
                values.append(try decoding.value(value))
            }
            let addition = try self.addition(to: elements)
            return (values, addition, try self.time(of: elements, for: request))
        }
        return try result(.values(values), addition, at: time)
    }

    // MARK: Collection names

    private func names(
        under parent: DocumentPath?,
        _ request: ReadRequest
    ) async throws(StorageError) -> ReadResult {
        let place = parent.map(encoding.name) ?? encoding.root
        var names: [String] = []
        var first: FirestoreJSON?
        var next: String?
        repeat {
            let page = FirestoreJSON.members([
                "pageSize": .integer(Int64(Self.mostNames)),
                "pageToken": next.map(FirestoreJSON.string),
            ])
            let call = FirestoreCall("listCollectionIds", on: place, message(page, request))
            let json = try await connection.reply(to: call)
            next = try decoded { decoding throws(StorageError) in
                for name in try json.list("collectionIds") {
                    guard let name = name.text else { throw FirestoreDecoding.flaw("no name") }
                    names.append(name)
                }
                if first == nil { first = try decoding.addition(to: json) }
                return try json.text("nextPageToken")
            }
        } while next?.isEmpty == false
        return try result(.names(names.sorted(by: StoredName.precedes)), first)
    }
}
