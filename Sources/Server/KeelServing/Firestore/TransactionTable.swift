internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore

struct TransactionTable: Sendable {
    /// The operation of errors that abort a transaction.
    static let operation = "transaction"

    /// The operation of the error for a read that a concurrent read of the transaction has overtaken.
    static let overtaken = "overtaken read"

    let records: any TransactionRecords
    /// Admits the reads that another read of their transaction has overtaken.
    let turns = TransactionTurns()
    private let adapter: any StorageAdapter
    private let configuration: StorageServer.Configuration

    init(_ adapter: any StorageAdapter, _ configuration: StorageServer.Configuration) {
        self.adapter = adapter
        self.configuration = configuration
        records =
            adapter.sharedRecords.map {
                SharedTransactions(adapter: adapter, records: $0, configuration: configuration)
            } ?? LocalTransactions(configuration)
    }

    /// Starts a transaction and returns its token.
    ///
    /// - Throws: `StorageError/Code/tooLarge` if `reads` are too many.
    func begin(
        _ kind: OpenTransaction.Kind,
        by caller: CallerID?,
        at moment: ReadMoment? = nil,
        reads: TransactionReads = TransactionReads()
    ) async throws(StorageError) -> TransactionToken {
        let token = TransactionToken(id: configuration.makeID(), of: caller)
        var transaction = OpenTransaction(kind, at: moment)
        transaction.add(reads)
        try checkSize(of: transaction)
        try await records.insert(transaction, as: token.id)
        return token
    }

    /// Returns the present moment, for a read-only transaction.
    ///
    /// - Returns: The moment; nil if the store has no history and cannot hold a state that all of its servers can read.
    ///   The commit then checks the reads.
    func presentMoment() async throws(StorageError) -> ReadMoment? {
        let isShared = adapter.sharedRecords != nil
        guard !isShared || adapter.capabilities.contains(.pointInTimeReads) else { return nil }
        return try await ReadMoment.present(of: adapter, configuration)
    }

    /// Returns the transaction of a token, and sets its moment if one is given.
    ///
    /// - Throws: `StorageError/Code/conflict` if the transaction is unknown or its commit has begun.
    func transaction(
        of token: TransactionToken,
        at moment: ReadMoment? = nil
    ) async throws(StorageError) -> OpenTransaction {
        try await records.change(token.id) { transaction throws(StorageError) in
            guard transaction.phase == .open else { throw Self.ended }
            if let moment { transaction.read(at: moment) }
            return transaction
        }
    }

    /// Records reads of a transaction.
    ///
    /// `position` is that of the earlier reads that were still current at the position of `reads`.
    ///
    /// - Throws: `StorageError/Code/conflict` if a concurrent read showed another moment; its operation is
    ///   ``overtaken``, and nothing is recorded. `StorageError/Code/tooLarge` if the transaction has read too much,
    ///   which ends it.
    func record(
        _ reads: TransactionReads,
        for token: TransactionToken,
        after position: ChangeCursor? = nil
    ) async throws(StorageError) {
        do throws(StorageError) {
            try await records.change(token.id) { transaction throws(StorageError) in
                guard transaction.phase == .open else { throw Self.ended }
                let known = transaction.position
                guard reads.position == nil || known == position || known == reads.position else {
                    throw StorageError(
                        .conflict,
                        "documents have changed between reads of the transaction; begin it again",
                        operation: Self.overtaken
                    )
                }
                transaction.add(reads)
                try checkSize(of: transaction)
            }
        } catch {
            if error.code == .tooLarge { try await forget(token) }
            throw error
        }
    }

    private func checkSize(of transaction: OpenTransaction) throws(StorageError) {
        try check(readCount: transaction.readCount)
    }

    /// Checks the number of the reads that a commit names.
    ///
    /// The documents that its queries found are not counted: they are not recorded, and the commit only compares them.
    ///
    /// - Throws: `StorageError/Code/tooLarge` if there are too many.
    func checkSize(of reads: TransactionReads) throws(StorageError) {
        try check(readCount: reads.documents.count + reads.queries.count)
    }

    private func check(readCount: Int) throws(StorageError) {
        let most = configuration.maximumReadsPerTransaction
        guard readCount > most else { return }
        throw StorageError(
            .tooLarge,
            "a transaction has more than \(most) reads; read less in one transaction"
        )
    }

    /// Starts the commit of a transaction, and returns the transaction as it was.
    ///
    /// With `isRepeatable`, a repeated commit takes effect once: the transaction is also returned if a commit of the
    /// same writes has begun or taken effect.
    ///
    /// - Throws: `StorageError/Code/conflict` if the transaction is unknown or other writes of it are being committed.
    func startCommit(
        of token: TransactionToken,
        _ writes: WritesHash,
        isRepeatable: Bool
    ) async throws(StorageError) -> OpenTransaction {
        try await records.change(token.id) { transaction throws(StorageError) in
            let before = transaction
            switch before.phase {
            case .open: transaction.enter(.isBeingCommitted(writes))
            case .isBeingCommitted(writes), .committed(writes):
                guard isRepeatable else { throw Self.ended }
            case .isBeingCommitted, .committed: throw Self.ended
            }
            return before
        }
    }

    /// Records the outcome of a commit, so that it can be repeated.
    ///
    /// If the outcome cannot be recorded, the transaction ends when it expires.
    func endCommit(of token: TransactionToken, in phase: OpenTransaction.Phase) async {
        try? await records.change(token.id) { $0.enter(phase) }
    }

    func forget(_ token: TransactionToken) async throws(StorageError) {
        try await records.remove(token.id)
    }

    /// Returns the error of a transaction whose reads are outdated, which the protocol distinguishes from a failed
    /// condition.
    static func conflict(_ error: StorageError) -> StorageError {
        StorageError(.conflict, error.message, operation: operation, resource: error.resource)
    }

    static let ended = StorageError(
        .conflict,
        "the transaction has ended, or was open for too long; begin it again",
        operation: operation
    )
}

struct TransactionToken: Sendable, Hashable {
    private static let mark = "keel-transaction-"

    let id: String

    init(id: String, of caller: CallerID?) { self.id = caller.map { "\($0.tag)/\(id)" } ?? id }

    /// Parses a token, which is Base64 in the protocol; returns nil if it was not created by a Keel server.
    init?(_ text: String) {
        // An unencoded plus sign in a URL arrives as a space.
        let text = text.contains(" ") ? String(text.map { $0 == " " ? "+" : $0 }) : text
        guard let bytes = Base64.decode(text),
            let content = String(validating: bytes, as: UTF8.self),
            content.hasPrefix(Self.mark), content.utf8.count <= 200
        else { return nil }
        id = String(content.dropFirst(Self.mark.count))
    }

    /// Returns the caller's tag in an id; empty if the caller is unknown.
    static func caller(of id: String) -> Substring { id.lastIndex(of: "/").map { id[..<$0] } ?? "" }

    var text: String { Base64.encode(Array((Self.mark + id).utf8)) }

    /// Returns the id of the batch that commits these writes of the transaction.
    func batchID(of writes: WritesHash) -> String { "\(text)/\(writes.value)" }
}
