import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// Reads from the store, with the options of the request's message.
    ///
    /// `earlier` are the transaction's earlier reads, which must still be current. With `needsMoment`, the result
    /// includes its time if the store can hold a state.
    ///
    /// - Throws: Errors of the store, and `StorageError/Code/invalidArgument` for a malformed extension member.
    func read(
        _ operation: ReadOperation,
        asOf time: Timestamp? = nil,
        needsTime: Bool = false,
        maximumBytes: Int? = nil,
        reportsUnreadable: Bool = false,
        needsMoment: Bool = false,
        after earlier: TransactionReads? = nil
    ) async throws(StorageError) -> ReadResult {
        var request = ReadRequest(operation)
        request.asOf = time
        request.maximumBytes = maximumBytes
        request.reportsUnreadable = reportsUnreadable
        let capabilities = adapter.capabilities
        request.needsTime = needsTime || needsMoment && capabilities.contains(.heldReads)
        return try await read(request, after: earlier)
    }

    func read(
        _ request: ReadRequest,
        after earlier: TransactionReads?
    ) async throws(StorageError) -> ReadResult {
        try configuration.checkIndexes(of: request.operation)
        var request = request
        if let addition = try decoding.addition(to: body) {
            request.isStrict = try addition.flag("strict") ?? false
            request.needsPosition = try addition.flag("position") ?? false
            request.maximumStaleness = try decoding.duration("staleness", of: addition)
        }
        guard let earlier, adapter.capabilities.contains(.checkedReads) else {
            return try await answer(request)
        }
        request.needsPosition = true
        if earlier != TransactionReads() { request.reads = earlier }
        do throws(StorageError) {
            return try await answer(request)
        } catch {
            throw error.code == .conflict ? TransactionTable.conflict(error) : error
        }
    }

    private func answer(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        guard !context.isOver else {
            throw StorageError(.timeout, "the request took longer than its time limit")
        }
        // A timer would cost more than reading a few documents.
        if case .documents(let paths) = request.operation, paths.count < 10 {
            return try await adapter.read(request)
        }
        let timer = DeadlineTimer.on(configuration.clock)
        let longest = min(configuration.readTimeout, context.timeLeft ?? configuration.readTimeout)
        let (result, wasReached) = await timer.run(until: timer.now + longest) {
            [adapter] () async -> Result<ReadResult, StorageError> in
            do throws(StorageError) {
                return .success(try await adapter.read(request))
            } catch {
                return .failure(error)
            }
        }
        do throws(StorageError) {
            return try result.get()
        } catch {
            guard wasReached, error.code == .cancelled else { throw error }
            throw StorageError(
                .timeout,
                "the store did not reply within \(longest); request less, or "
                    + "declare an index that serves the query"
            )
        }
    }

    /// Reads the documents at the given paths; with a limit of bytes, possibly only the first ones.
    func documents(
        _ paths: [DocumentPath],
        asOf time: Timestamp? = nil,
        needsTime: Bool = false,
        maximumBytes: Int? = nil,
        reportsUnreadable: Bool = false,
        needsMoment: Bool = false,
        after earlier: TransactionReads? = nil
    ) async throws(StorageError) -> (documents: [Document?], result: ReadResult) {
        let result = try await read(
            .documents(paths),
            asOf: time,
            needsTime: needsTime,
            maximumBytes: maximumBytes,
            reportsUnreadable: reportsUnreadable,
            needsMoment: needsMoment,
            after: earlier
        )
        let documents = try result.documents
        guard
            documents.count == paths.count
                || result.isPartial && !documents.isEmpty && documents.count < paths.count
        else { throw ReadResult.wrong("documents") }
        return (documents, result)
    }

    func addition(
        _ result: ReadResult,
        _ unreadable: UnreadableDocuments = UnreadableDocuments(),
        isPartial: Bool = false
    ) -> FirestoreJSON? {
        guard decoding.isExtended else { return nil }
        let unreadable = asksFor("unreadable") ? unreadable.list(encoding) : nil
        let plan = result.plan.map(FirestoreEncoding.plan)
        let position = asksFor("position") ? result.position.map(encoding.cursor) : nil
        let isRepeatable = adapter.capabilities.contains(.pointInTimeReads)
        let time = (isRepeatable ? result.time : nil).map {
            FirestoreJSON.string(FirestoreTime.text(of: $0))
        }
        let members = FirestoreJSON.members([
            "position": position, "plan": plan, "time": time, "unreadable": unreadable,
            "partial": isPartial ? true : nil,
        ])
        return members == .object([]) ? nil : members
    }

    /// The size in bytes at which the client wants the reply to end.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is not a positive integer.
    func mostBytes() throws(StorageError) -> Int? {
        guard let number = try decoding.addition(to: body)?.wholeNumber("bytes") else { return nil }
        guard number > 0 else {
            throw StorageError(.invalidArgument, "“bytes” must be positive, not \(number)")
        }
        return Int(clamping: number)
    }

    private func asksFor(_ member: String) -> Bool {
        (try? decoding.addition(to: body)?.flag(member)) == true
    }

    /// Returns the error that reports unreadable documents, unless the extension member reports them.
    func failure(_ unreadable: UnreadableDocuments) -> StorageError? {
        asksFor("unreadable") ? nil : unreadable.error
    }

    func made(by pieces: some ReplyPieces) async throws(StorageError) -> ReplyBody {
        try await .made(by: pieces, cuttingOff: !decoding.isExtended)
    }

    /// Returns the store's read time; if there is none, the clock's, but not before the update time of a returned
    /// document.
    func readTime(
        of result: ReadResult,
        _ documents: some Sequence<Document> = EmptyCollection<Document>()
    ) -> FirestoreJSON {
        let time =
            result.time ?? documents.reduce(configuration.now()) { max($0, $1.updateTime) }
        return .string(FirestoreTime.text(of: time))
    }

    // MARK: Methods

    /// `get`: returns a document.
    func getDocument(_ path: DocumentPath) async throws(StorageError) -> [UInt8] {
        try items.check("mask.fieldPaths", "transaction", "readTime")
        let mask = try mask("mask.fieldPaths")
        let snapshot = try await snapshotOfItems()
        let (documents, result) = try await documents(
            [path],
            asOf: snapshot.time,
            after: snapshot.earlierReads
        )
        _ = try await record(reads(of: [path], documents), at: result.position, in: snapshot)
        guard let document = documents[0] else { throw .noDocument(at: path) }
        var bytes: [UInt8] = []
        try append(document, mask, to: &bytes)
        return bytes
    }

    /// `batchGet`: returns several documents.
    func batchGet() async throws(StorageError) -> ReplyBody {
        try checkDatabase()
        var paths: [DocumentPath] = []
        var known: Set<DocumentPath> = []
        for name in try body.list("documents") {
            guard let name = name.text else {
                throw FirestoreDecoding.flaw("the name of a document is \(name.kindName)")
            }
            let path = try decoding.path(of: name)
            try reserved.check(path)
            if known.insert(path).inserted { paths.append(path) }
        }
        let mask = try body.object("mask").map { json throws(StorageError) in
            try decoding.mask(json)
        }
        try QueryValidation.check(selection: mask)
        let snapshot = try await snapshot()
        return try await made(by: try BatchReply(.batchGet, with: paths, mask, of: self, snapshot))
    }

    /// `listCollectionIds`: returns the names of a document's collections, or of those at the root.
    func listCollectionIDs(under parent: DocumentPath?) async throws(StorageError) -> [UInt8] {
        try require(.collectionListing, for: "listCollectionIds")
        let time = try time(try body.text("readTime"))
        let size = try pageSize(try body.wholeNumber("pageSize"))
        let after = try PageToken(try body.text("pageToken"))?.name
        let result = try await read(.collections(under: parent), asOf: time)
        let rest = try result.names.filter { name in
            !StoredName.isReserved(name) && (after.map { StoredName.precedes($0, name) } ?? true)
        }
        let page = rest.prefix(size)
        let isLast = page.count == rest.count
        return FirestoreJSON.members([
            "collectionIds": .array(page.map(FirestoreJSON.string)),
            "nextPageToken": isLast ? nil : page.last.map { .string(PageToken(name: $0).text) },
            FirestoreEncoding.extensionName: addition(result),
        ]).bytes
    }

    // MARK: Parts

    func append(
        _ document: Document,
        _ mask: [FieldPath]?,
        to bytes: inout [UInt8]
    ) throws(StorageError) {
        guard let mask else { return try encoding.append(document, to: &bytes) }
        try encoding.append(document.with(document.body.selecting(mask)), to: &bytes)
    }

    func mask(_ name: String) throws(StorageError) -> [FieldPath]? {
        let texts = items.all(name).flatMap { $0.isEmpty ? [] : [$0] }
        guard items[name] != nil else { return nil }
        var fields: [FieldPath] = []
        for text in texts { fields.append(try decoding.field(text)) }
        if name == "mask.fieldPaths" { try QueryValidation.check(selection: fields) }
        return fields
    }

    func reads(of paths: [DocumentPath], _ documents: [Document?]) -> TransactionReads {
        TransactionReads(
            documents: zip(paths, documents).map { path, document in
                TransactionReads.DocumentRead(path: path, revision: document?.revision)
            }
        )
    }

    func pageSize(_ wanted: Int64?) throws(StorageError) -> Int {
        guard let wanted, wanted != 0 else { return 300 }
        guard wanted > 0 else { throw FirestoreDecoding.flaw("“pageSize” is negative") }
        return Int(min(wanted, 1000))
    }
}
