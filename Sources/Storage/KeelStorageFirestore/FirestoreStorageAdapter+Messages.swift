internal import KeelStorageAdapting

extension FirestoreStorageAdapter {
    func message(
        _ message: FirestoreJSON,
        _ request: ReadRequest?,
        in transaction: String? = nil
    ) -> FirestoreJSON {
        var members = message.members ?? []
        if let transaction {
            members.append(FirestoreJSON.Member("transaction", .string(transaction)))
        }
        if let time = request?.asOf {
            members.append(FirestoreJSON.Member("readTime", .string(FirestoreTime.text(of: time))))
        }
        guard configuration.isExtended, let request else { return .object(members) }
        let addition = FirestoreJSON.members([
            "strict": request.isStrict ? true : nil,
            "position": request.needsPosition ? true : nil,
            "staleness": request.maximumStaleness.map(FirestoreEncoding.duration),
            "unreadable": request.reportsUnreadable ? true : nil,
            "bytes": request.maximumBytes.map { .string("\($0)") },
        ])
        if addition != .object([]) {
            members.append(FirestoreJSON.Member(FirestoreEncoding.extensionName, addition))
        }
        return .object(members)
    }

    func elements(of call: FirestoreCall) async throws(StorageError) -> [FirestoreJSON] {
        let json = try await connection.reply(to: call)
        guard let elements = json.elements else {
            throw .invalidReply("it is \(json.kindName) and should be an array")
        }
        return elements
    }

    /// Returns the read time of a list reply, if the server can read at this time again.
    ///
    /// Each element has the same `readTime`. A `keel serve` server without a history sends a `readTime` that cannot be
    /// read again; the time in the extension member can.
    func time(
        of elements: [FirestoreJSON],
        for request: ReadRequest?
    ) throws(StorageError) -> Timestamp? {
        guard let request, request.needsTime else { return nil }
        let text =
            configuration.isExtended
            ? try addition(to: elements)?.text("time") : try elements.last?.text("readTime")
        guard let text else { return nil }
        guard let time = FirestoreTime.time(of: text) else {
            throw FirestoreDecoding.flaw("“readTime” is not a valid time")
        }
        return time
    }

    func addition(to elements: [FirestoreJSON]) throws(StorageError) -> FirestoreJSON? {
        guard let last = elements.last else { return nil }
        return try decoding.addition(to: last)
    }

    func result(
        _ payload: ReadResult.Payload,
        _ addition: FirestoreJSON?,
        at time: Timestamp? = nil
    ) throws(StorageError) -> ReadResult {
        guard let addition else { return ReadResult(payload, time: time) }
        return try decoded { decoding throws(StorageError) in
            ReadResult(
                payload,
                position: try decoding.cursor("position", of: addition),
                time: time,
                plan: try addition.object("plan").map { plan throws(StorageError) in
                    try decoding.plan(plan)
                },
                unreadable: try decoding.unreadable(in: addition),
                isPartial: try addition.flag("partial") ?? false
            )
        }
    }
}
