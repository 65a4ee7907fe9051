internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import KeelStorageFirestore
internal import Synchronization

/// The open transactions and their reads.
final class TransactionTable: Sendable {
    /// The operation of errors that abort a transaction.
    static let operation = "transaction"

    /// The operation of the error for a read that was overtaken by a concurrent read of the transaction.
    static let overtaken = "overtaken read"

    private struct State {
        var open: [String: OpenTransaction] = [:]
        /// The number of recorded reads of all transactions.
        var readCount = 0
    }

    private let configuration: StorageServer.Configuration
    private let timeline: Timeline
    private let state = Mutex(State())

    init(_ configuration: StorageServer.Configuration) {
        self.configuration = configuration
        timeline = Timeline(configuration.clock)
    }

    var count: Int { state.withLock { $0.open.count } }

    /// Starts a transaction and returns its token.
    func begin(
        _ kind: OpenTransaction.Kind,
        at moment: ReadMoment? = nil
    ) -> TransactionToken {
        let token = TransactionToken(id: configuration.makeID())
        let now = timeline.now
        state.withLock { state in
            state.open[token.id] = OpenTransaction(kind, at: moment, now: now)
            guard state.open.count > configuration.maximumTransactions else { return }
            makeRoom(&state, now)
        }
        return token
    }

    /// Returns the transaction of a token, and sets its moment if one is given.
    ///
    /// - Throws: `StorageError/Code/conflict` if the transaction is unknown, before anything is read for it.
    func transaction(
        of token: TransactionToken,
        at moment: ReadMoment? = nil
    ) throws(StorageError) -> OpenTransaction {
        try use(token) { transaction in
            if let moment { transaction.read(at: moment) }
            return transaction
        }
    }

    /// Records reads of a transaction.
    ///
    /// - Parameters:
    ///   - reads: The reads.
    ///   - token: The transaction.
    ///   - position: The position of the earlier reads that were still current at the position of `reads`.
    /// - Throws: `StorageError/Code/conflict` if a concurrent read showed another moment; its operation is
    ///   ``overtaken``, and nothing is recorded. `StorageError/Code/tooLarge` if the transaction has read too much.
    func record(
        _ reads: TransactionReads,
        for token: TransactionToken,
        after position: ChangeCursor? = nil
    ) throws(StorageError) {
        let most = configuration.maximumReadsPerTransaction
        let (isOfOneMoment, isTooMuch) = try use(token) { transaction in
            let known = transaction.position
            let isOfOneMoment =
                reads.position == nil || known == position || known == reads.position
            if isOfOneMoment { transaction.add(reads) }
            return (isOfOneMoment, transaction.readCount > most)
        }
        guard isOfOneMoment else {
            throw StorageError(
                .conflict,
                "documents have changed between reads of the transaction; begin it again",
                operation: Self.overtaken
            )
        }
        guard isTooMuch else { return }
        forget(token)
        throw StorageError(.tooLarge, "a transaction has read more than \(most) documents")
    }

    /// Starts the commit of a transaction and returns its reads.
    ///
    /// - Parameters:
    ///   - token: The transaction.
    ///   - writes: The writes. If a commit of the same writes has taken effect, whose reply may have been lost, the
    ///     transaction is returned as well.
    /// - Returns: The transaction.
    /// - Throws: `StorageError/Code/conflict` if the transaction is unknown or is being committed.
    func startCommit(
        of token: TransactionToken,
        _ writes: [DocumentWrite]
    ) throws(StorageError) -> OpenTransaction {
        try use(token, inPhases: [.open, .committed(writes.hashValue)]) { transaction in
            defer {
                if transaction.phase == .open { transaction.enter(.isBeingCommitted) }
            }
            return transaction
        }
    }

    /// Records the outcome of a commit, so that a commit without effect can be repeated.
    func endCommit(of token: TransactionToken, in phase: OpenTransaction.Phase) {
        state.withLock { state in
            guard var transaction = state.open[token.id] else { return }
            state.readCount -= transaction.readCount
            transaction.enter(phase)
            state.readCount += transaction.readCount
            state.open[token.id] = transaction
        }
    }

    func forget(_ token: TransactionToken) {
        state.withLock { state in Self.remove(token.id, from: &state) }
    }

    private func use<Value>(
        _ token: TransactionToken,
        inPhases phases: Set<OpenTransaction.Phase> = [.open],
        _ body: (inout OpenTransaction) -> Value
    ) throws(StorageError) -> Value {
        let now = timeline.now
        let value = state.withLock { state -> Value? in
            guard var transaction = state.open[token.id] else { return nil }
            guard !isExpired(transaction, now) else {
                Self.remove(token.id, from: &state)
                return nil
            }
            guard phases.contains(transaction.phase) else { return nil }
            let before = transaction.readCount
            transaction.lastUse = now
            let value = body(&transaction)
            state.readCount += transaction.readCount - before
            state.open[token.id] = transaction
            if state.readCount > configuration.maximumReads { makeRoom(&state, now) }
            return value
        }
        guard let value else { throw Self.ended }
        return value
    }

    /// Returns the error of a transaction whose reads are outdated and whose client has to start over.
    ///
    /// The protocol distinguishes it from a failed condition.
    static func conflict(_ error: StorageError) -> StorageError {
        StorageError(.conflict, error.message, operation: operation, resource: error.resource)
    }

    /// The error of an unknown transaction.
    static let ended = StorageError(
        .conflict,
        "the transaction has ended, or was open for too long; begin it again",
        operation: operation
    )

    private func isExpired(_ transaction: OpenTransaction, _ now: Duration) -> Bool {
        now - transaction.begin > configuration.transactionLifetime
            || now - transaction.lastUse > configuration.transactionIdleTime
    }

    /// Removes expired transactions, and then the least recently used ones.
    private func makeRoom(_ state: inout State, _ now: Duration) {
        for (id, transaction) in state.open where isExpired(transaction, now) {
            Self.remove(id, from: &state)
        }
        guard !isWithinLimits(state) else { return }
        // Removes some more than necessary, to avoid sorting each time.
        let oldest = state.open.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        let spare = oldest.count / 16
        for (position, id) in oldest.dropLast().enumerated() {
            guard position < spare || !isWithinLimits(state) else { return }
            Self.remove(id, from: &state)
        }
    }

    private func isWithinLimits(_ state: State) -> Bool {
        state.open.count <= configuration.maximumTransactions
            && state.readCount <= configuration.maximumReads
    }

    private static func remove(_ id: String, from state: inout State) {
        guard let removed = state.open.removeValue(forKey: id) else { return }
        state.readCount -= removed.readCount
    }
}

/// The identifier of a transaction for clients.
struct TransactionToken: Sendable, Hashable {
    private static let mark = "keel-transaction-"

    let id: String

    init(id: String) { self.id = id }

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

    /// The token in the form of the protocol.
    var text: String { Base64.encode(Array((Self.mark + id).utf8)) }
}
