import KeelStorage
import KeelStorageFirestore

extension FirestoreExchange {
    /// What a request reads in.
    enum Snapshot {
        /// The store as it is.
        case current
        /// A transaction that has begun before.
        case transaction(TransactionToken)
        /// A transaction that begins with this request.
        case newTransaction(isReadOnly: Bool)
    }

    /// `beginTransaction`.
    func beginTransaction() throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let isReadOnly = try beginsReadOnly(try body.object("options"))
        let token = transactions.begin(isReadOnly: isReadOnly)
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
        guard body.member("readTime") == nil else { throw Self.noPast }
        let token = try token(of: body)
        guard let options = try body.object("newTransaction") else {
            return try snapshot(token)
        }
        guard token == nil else {
            throw FirestoreDecoding.flaw("“transaction” and “newTransaction” exclude each other")
        }
        return .newTransaction(isReadOnly: try beginsReadOnly(options))
    }

    /// What the query of the request's target names.
    func snapshotOfItems() throws(StorageError) -> Snapshot {
        guard items["readTime"] == nil else { throw Self.noPast }
        return try snapshot(try token(items["transaction"]))
    }

    private func snapshot(_ token: TransactionToken?) throws(StorageError) -> Snapshot {
        guard let token else { return .current }
        try transactions.check(token)
        return .transaction(token)
    }

    /// Notes what was read, where a transaction reads.
    ///
    /// - Returns: The token of the transaction, if it began with this request.
    func record(
        _ reads: TransactionReads,
        in snapshot: Snapshot
    ) throws(StorageError) -> TransactionToken? {
        switch snapshot {
        case .current: return nil
        case .transaction(let token):
            try transactions.record(reads, for: token)
            return nil
        case .newTransaction(let isReadOnly):
            let token = transactions.begin(isReadOnly: isReadOnly)
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

    private func beginsReadOnly(_ options: FirestoreJSON?) throws(StorageError) -> Bool {
        try require(.transactions, for: "a transaction")
        guard let readOnly = try options?.object("readOnly") else {
            let readWrite = try options?.object("readWrite")
            // The attempt before is over, whatever became of it.
            let last = try token(try readWrite?.text("retryTransaction"))
            if let last { transactions.forget(last) }
            return false
        }
        guard readOnly.member("readTime") == nil else { throw Self.noPast }
        return true
    }

    private static let noPast = StorageError(
        .unsupported,
        "“readTime” is not available here: the store does not keep what documents were"
    )
}
