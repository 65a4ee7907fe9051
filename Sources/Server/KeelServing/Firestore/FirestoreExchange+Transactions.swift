import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension FirestoreExchange {
    /// The state that a request reads.
    enum Snapshot {
        case current
        case past(Timestamp)
        case transaction(TransactionToken, asOf: Timestamp?, earlier: TransactionReads)
        case newTransaction(OpenTransaction.Kind, ReadMoment?)

        var time: Timestamp? {
            switch self {
            case .current: nil
            case .past(let time): time
            case .transaction(_, let time, _): time
            case .newTransaction(let kind, let moment): kind.time ?? moment?.time
            }
        }

        /// The transaction's earlier reads, if its commit checks them.
        var earlierReads: TransactionReads? {
            switch self {
            case .transaction(_, nil, let earlier): earlier
            case .newTransaction where time == nil: TransactionReads()
            default: nil
            }
        }

        /// Whether the reads must be recorded for the commit; those of the past need not.
        var notesReads: Bool {
            switch self {
            case .current, .past: false
            case .transaction, .newTransaction: time == nil
            }
        }
    }

    /// `beginTransaction`: starts a transaction.
    func beginTransaction() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        let kind = try await kind(of: try body.object("options"))
        let token = try await transactions.begin(kind, by: caller)
        return FirestoreJSON.object([.init("transaction", .string(token.text))]).bytes
    }

    /// `rollback`: ends a transaction.
    ///
    /// An unknown transaction has ended already and is not an error.
    func rollback() async throws(StorageError) -> [UInt8] {
        try checkDatabase()
        guard let token = try token(of: body) else {
            throw FirestoreDecoding.flaw("“transaction” is missing")
        }
        try await transactions.forget(token)
        return Self.nothing
    }

    static let nothing = Array("{}".utf8)

    // MARK: Snapshots

    func snapshot() async throws(StorageError) -> Snapshot {
        let time = try time(try body.text("readTime"))
        let token = try token(of: body)
        guard let options = try body.object("newTransaction") else {
            return try await snapshot(token, time)
        }
        guard token == nil, time == nil else {
            throw FirestoreDecoding.flaw(
                "“transaction”, “newTransaction” and “readTime” exclude each other"
            )
        }
        let kind = try await kind(of: options)
        guard kind == .readOnly(asOf: nil) else { return .newTransaction(kind, nil) }
        return .newTransaction(kind, try await transactions.presentMoment())
    }

    func snapshotOfItems() async throws(StorageError) -> Snapshot {
        try await snapshot(try token(items["transaction"]), try time(items["readTime"]))
    }

    private func snapshot(
        _ token: TransactionToken?,
        _ time: Timestamp?
    ) async throws(StorageError) -> Snapshot {
        guard let token else { return time.map(Snapshot.past) ?? .current }
        guard time == nil else {
            throw FirestoreDecoding.flaw("“transaction” and “readTime” exclude each other")
        }
        let transaction = try await transactions.transaction(of: token)
        if let moment = transaction.moment {
            do throws(StorageError) {
                try await moment.renew()
            } catch {
                throw error.code == .snapshotTooOld ? TransactionTable.ended : error
            }
        }
        guard transaction.needsMoment,
            let moment = try await transactions.presentMoment()
        else { return .transaction(token, asOf: transaction.time, earlier: transaction.reads) }
        let begun = try await transactions.transaction(of: token, at: moment)
        return .transaction(token, asOf: begun.time, earlier: begun.reads)
    }

    func time(_ text: String?) throws(StorageError) -> Timestamp? {
        guard let text, !text.isEmpty else { return nil }
        guard let time = FirestoreTime.time(of: text) else {
            throw FirestoreDecoding.flaw("“readTime” is not an RFC 3339 time")
        }
        try require(.pointInTimeReads, for: "“readTime”")
        return time
    }

    /// Records reads if they belong to a transaction, and returns the token of one that started with this request.
    ///
    /// - Throws: `StorageError/Code/conflict` if the transaction has ended or concurrent reads showed different
    ///   moments, `StorageError/Code/tooLarge` if the transaction has read too much.
    func record(
        _ reads: TransactionReads,
        at position: ChangeCursor? = nil,
        in snapshot: Snapshot
    ) async throws(StorageError) -> TransactionToken? {
        var reads = snapshot.notesReads ? reads : TransactionReads()
        if snapshot.notesReads, adapter.capabilities.contains(.checkedReads) {
            reads.position = position
        }
        switch snapshot {
        case .current, .past: return nil
        case .transaction(let token, _, let earlier):
            try await transactions.record(reads, for: token, after: earlier.position)
            return nil
        case .newTransaction(let kind, let moment):
            return try await transactions.begin(kind, by: caller, at: moment, reads: reads)
        }
    }

    /// Parses the token of a message; returns nil if there is none.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` if the token was not created by a Keel server.
    func token(of json: FirestoreJSON) throws(StorageError) -> TransactionToken? {
        try token(try json.text("transaction"))
    }

    private func token(_ text: String?) throws(StorageError) -> TransactionToken? {
        guard let text, !text.isEmpty else { return nil }
        guard let token = TransactionToken(text) else {
            throw FirestoreDecoding.flaw("“transaction” was not issued by this server")
        }
        return token
    }

    private func kind(
        of options: FirestoreJSON?
    ) async throws(StorageError) -> OpenTransaction.Kind {
        try require(.transactions, for: "a transaction")
        guard let readOnly = try options?.object("readOnly") else {
            let readWrite = try options?.object("readWrite")
            // The previous attempt is over, whatever its outcome.
            let last = try token(try readWrite?.text("retryTransaction"))
            if let last { try await transactions.forget(last) }
            return .readWrite
        }
        return .readOnly(asOf: try time(try readOnly.text("readTime")))
    }
}
