import KeelCore
import KeelStorage
internal import KeelStorageAdapting
import Synchronization

/// What the transactions that are under way have read.
final class TransactionTable: Sendable {
    /// What an error's operation says where a transaction could not be carried through.
    static let operation = "transaction"

    /// The operation of the error for a read that another read of the transaction has overtaken.
    static let overtaken = "overtaken read"

    private struct State {
        var open: [String: OpenTransaction] = [:]
        /// The documents read, over all transactions.
        var readCount = 0
    }

    private let configuration: StorageServer.Configuration
    private let timeline: Timeline
    private let state = Mutex(State())

    init(_ configuration: StorageServer.Configuration) {
        self.configuration = configuration
        timeline = Timeline(configuration.clock)
    }

    /// How many transactions are remembered.
    var count: Int { state.withLock { $0.open.count } }

    /// Begins a transaction and returns its token.
    func begin(
        _ kind: OpenTransaction.Kind,
        at moment: ReadMoment? = nil
    ) -> TransactionToken {
        let token = TransactionToken(id: configuration.makeID())
        let now = timeline.now
        state.withLock { state in
            state.open[token.id] = OpenTransaction(kind, at: moment, now: now)
            guard state.open.count > configuration.mostTransactions else { return }
            makeRoom(&state, now)
        }
        return token
    }

    /// The transaction of a token, which reads at a moment from now on if one is given.
    ///
    /// - Throws: `StorageError/Code/conflict` if the transaction is not remembered, before anything
    ///   is read for it.
    func transaction(
        of token: TransactionToken,
        at moment: ReadMoment? = nil
    ) throws(StorageError) -> OpenTransaction {
        try use(token) { transaction in
            if let moment { transaction.read(at: moment) }
            return transaction
        }
    }

    /// Adds to what a transaction has read.
    ///
    /// - Parameters:
    ///   - reads: What was read.
    ///   - token: The transaction.
    ///   - position: The position of the earlier reads whose results still held at that of `reads`.
    /// - Throws: `StorageError/Code/conflict` if another read at the same time was of another moment; its
    ///   operation is ``overtaken``, and nothing is noted.
    func record(
        _ reads: TransactionReads,
        for token: TransactionToken,
        after position: ChangeCursor? = nil
    ) throws(StorageError) {
        let most = configuration.mostReadsOfTransaction
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

    /// Marks a transaction as being committed and returns what it has read.
    ///
    /// - Parameters:
    ///   - token: The transaction.
    ///   - writes: What is to be committed. If a commit of just this has taken effect, whose reply
    ///     may have got lost, the transaction is returned as well.
    /// - Returns: The transaction.
    /// - Throws: `StorageError/Code/conflict` if it is not remembered, or is being committed.
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

    /// Notes what a commit led to, so that it can be repeated where it did not take effect.
    func endCommit(of token: TransactionToken, in phase: OpenTransaction.Phase) {
        state.withLock { state in
            guard var transaction = state.open[token.id] else { return }
            state.readCount -= transaction.readCount
            transaction.enter(phase)
            state.readCount += transaction.readCount
            state.open[token.id] = transaction
        }
    }

    /// Forgets a transaction, if it is remembered.
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
            if state.readCount > configuration.mostReads { makeRoom(&state, now) }
            return value
        }
        guard let value else { throw Self.ended }
        return value
    }

    /// The error of a transaction whose reads do not hold any more, which has to begin again.
    ///
    /// The protocol tells it from a condition that fails.
    static func conflict(_ error: StorageError) -> StorageError {
        StorageError(.conflict, error.message, operation: operation, resource: error.resource)
    }

    /// The error of a transaction that is not remembered.
    static let ended = StorageError(
        .conflict,
        "the transaction has ended, or was open for too long; begin it again",
        operation: operation
    )

    private func isExpired(_ transaction: OpenTransaction, _ now: Duration) -> Bool {
        now - transaction.begin > configuration.transactionLifetime
            || now - transaction.lastUse > configuration.transactionIdleTime
    }

    /// Removes what has expired, and then what has not been used for the longest time.
    private func makeRoom(_ state: inout State, _ now: Duration) {
        for (id, transaction) in state.open where isExpired(transaction, now) {
            Self.remove(id, from: &state)
        }
        guard !isWithinLimits(state) else { return }
        // Some more than needed, so that the next one need not sort again.
        let oldest = state.open.sorted { $0.value.lastUse < $1.value.lastUse }.map(\.key)
        let spare = oldest.count / 16
        for (position, id) in oldest.dropLast().enumerated() {
            guard position < spare || !isWithinLimits(state) else { return }
            Self.remove(id, from: &state)
        }
    }

    private func isWithinLimits(_ state: State) -> Bool {
        state.open.count <= configuration.mostTransactions
            && state.readCount <= configuration.mostReads
    }

    private static func remove(_ id: String, from state: inout State) {
        guard let removed = state.open.removeValue(forKey: id) else { return }
        state.readCount -= removed.readCount
    }
}
