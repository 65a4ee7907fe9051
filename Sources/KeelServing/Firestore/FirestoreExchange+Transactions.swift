import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// What a request reads in.
    enum Snapshot {
        /// The store as it is.
        case current
        /// The store as it was.
        case past(Timestamp)
        /// A transaction that has begun before, with the time that it reads if it names one.
        case transaction(TransactionToken, asOf: Timestamp?)
        /// A transaction that begins with this request.
        case newTransaction(OpenTransaction.Kind)

        /// The time whose state is read, nil for the present.
        var time: Timestamp? {
            switch self {
            case .current: nil
            case .past(let time): time
            case .transaction(_, let time): time
            case .newTransaction(let kind): kind.time
            }
        }

        /// Whether a commit must know what is read: the past does not change.
        var notesReads: Bool {
            switch self {
            case .current, .past: false
            case .transaction, .newTransaction: time == nil
            }
        }
    }

    /// `beginTransaction`.
    func beginTransaction() throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let token = transactions.begin(try kind(of: try body.object("options")))
        return FirestoreJSON.object([.init("transaction", .string(token.text))]).bytes
    }

    /// `rollback`: what is not known any more is not there any more, which was the aim.
    func rollback() throws(StorageError) -> [UInt8] {
        try checkDatabase()
        guard let token = try token(of: body) else {
            throw FirestoreDecoding.flaw("“transaction” is missing")
        }
        transactions.forget(token)
        return Self.nothing
    }

    /// The reply of methods that have nothing to say.
    static let nothing = Array("{}".utf8)

    // MARK: What a request reads in

    /// What the request's message names.
    func snapshot() throws(StorageError) -> Snapshot {
        let time = try time(try body.text("readTime"))
        let token = try token(of: body)
        guard let options = try body.object("newTransaction") else {
            return try snapshot(token, time)
        }
        guard token == nil, time == nil else {
            throw FirestoreDecoding.flaw(
                "“transaction”, “newTransaction” and “readTime” exclude each other"
            )
        }
        return .newTransaction(try kind(of: options))
    }

    /// What the query of the request's target names.
    func snapshotOfItems() throws(StorageError) -> Snapshot {
        try snapshot(try token(items["transaction"]), try time(items["readTime"]))
    }

    private func snapshot(
        _ token: TransactionToken?,
        _ time: Timestamp?
    ) throws(StorageError) -> Snapshot {
        guard let token else { return time.map(Snapshot.past) ?? .current }
        guard time == nil else {
            throw FirestoreDecoding.flaw("“transaction” and “readTime” exclude each other")
        }
        return .transaction(token, asOf: try transactions.time(of: token))
    }

    /// The time that a message names for its reads, nil where there is none.
    func time(_ text: String?) throws(StorageError) -> Timestamp? {
        guard let text, !text.isEmpty else { return nil }
        guard let time = FirestoreTime.time(of: text) else {
            throw FirestoreDecoding.flaw("“readTime” is no time in the form of RFC 3339")
        }
        try require(.pointInTimeReads, for: "“readTime”")
        return time
    }

    /// Notes what was read, where a transaction reads.
    ///
    /// - Returns: The token of the transaction, if it began with this request.
    func record(
        _ reads: TransactionReads,
        in snapshot: Snapshot
    ) throws(StorageError) -> TransactionToken? {
        let reads = snapshot.notesReads ? reads : TransactionReads()
        switch snapshot {
        case .current, .past: return nil
        case .transaction(let token, _):
            try transactions.record(reads, for: token)
            return nil
        case .newTransaction(let kind):
            let token = transactions.begin(kind)
            try transactions.record(reads, for: token)
            return token
        }
    }

    /// The token that a message names, nil where there is none.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if it is none of this server's making.
    func token(of json: FirestoreJSON) throws(StorageError) -> TransactionToken? {
        try token(try json.text("transaction"))
    }

    private func token(_ text: String?) throws(StorageError) -> TransactionToken? {
        guard let text, !text.isEmpty else { return nil }
        guard let token = TransactionToken(text) else {
            throw FirestoreDecoding.flaw("“transaction” is no token of this server")
        }
        return token
    }

    private func kind(
        of options: FirestoreJSON?
    ) throws(StorageError) -> OpenTransaction.Kind {
        try require(.transactions, for: "a transaction")
        guard let readOnly = try options?.object("readOnly") else {
            let readWrite = try options?.object("readWrite")
            // The attempt before is over, whatever became of it.
            let last = try token(try readWrite?.text("retryTransaction"))
            if let last { transactions.forget(last) }
            return .readWrite
        }
        return .readOnly(asOf: try time(try readOnly.text("readTime")))
    }
}
