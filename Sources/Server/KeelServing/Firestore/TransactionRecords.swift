internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

protocol TransactionRecords: Sendable {
    func insert(_ transaction: OpenTransaction, as id: String) async throws(StorageError)

    /// Changes a transaction in one step; `body` may be called again if another change came first.
    ///
    /// - Throws: ``TransactionTable/ended`` if the transaction is unknown or expired; the error of `body`, which then
    ///   has no effect.
    func change<Value: Sendable>(
        _ id: String,
        _ body: @Sendable (inout OpenTransaction) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value

    func remove(_ id: String) async throws(StorageError)
}

/// Transactions in the memory of one server.
final class LocalTransactions: TransactionRecords {
    private struct Entry {
        var transaction: OpenTransaction
        let begin: Duration
        var lastUse: Duration
    }

    private struct State {
        var entries: [String: Entry] = [:]
        var readCount = 0
    }

    private let configuration: StorageServer.Configuration
    private let timeline: Timeline
    private let state = Mutex(State())

    init(_ configuration: StorageServer.Configuration) {
        self.configuration = configuration
        timeline = Timeline(configuration.clock)
    }

    var count: Int { state.withLock { $0.entries.count } }

    func insert(_ transaction: OpenTransaction, as id: String) {
        let now = timeline.now
        state.withLock { state in
            state.entries[id] = Entry(transaction: transaction, begin: now, lastUse: now)
            state.readCount += transaction.readCount
            makeRoom(&state, now)
        }
    }

    func change<Value: Sendable>(
        _ id: String,
        _ body: @Sendable (inout OpenTransaction) throws(StorageError) -> Value
    ) throws(StorageError) -> Value {
        let now = timeline.now
        return try state.withLock { state throws(StorageError) in
            guard var entry = state.entries[id] else { throw TransactionTable.ended }
            guard !isExpired(entry, now) else {
                Self.remove(id, from: &state)
                throw TransactionTable.ended
            }
            let before = entry.transaction.readCount
            let value = try body(&entry.transaction)
            entry.lastUse = now
            state.readCount += entry.transaction.readCount - before
            state.entries[id] = entry
            makeRoom(&state, now)
            return value
        }
    }

    func remove(_ id: String) { state.withLock { Self.remove(id, from: &$0) } }

    private static func remove(_ id: String, from state: inout State) {
        guard let removed = state.entries.removeValue(forKey: id) else { return }
        state.readCount -= removed.transaction.readCount
    }

    private func isExpired(_ entry: Entry, _ now: Duration) -> Bool {
        now - entry.begin > configuration.transactionLifetime
            || now - entry.lastUse > configuration.transactionIdleTime
    }

    private func isWithinLimits(_ state: State) -> Bool {
        state.entries.count <= configuration.maximumTransactions
            && state.readCount <= configuration.maximumReads
    }

    /// Above the limits, removes expired transactions, and then the least recently used ones.
    ///
    /// Above the limit of reads, these are first the transactions with more than an equal share, of callers with more
    /// than an equal share. Then they are those of the callers with most transactions.
    private func makeRoom(_ state: inout State, _ now: Duration) {
        guard !isWithinLimits(state) else { return }
        for (id, entry) in state.entries where isExpired(entry, now) {
            Self.remove(id, from: &state)
        }
        guard !isWithinLimits(state) else { return }
        // Removes some more than necessary, to avoid sorting each time.
        let oldest = state.entries.sorted { $0.value.lastUse < $1.value.lastUse }
        if state.readCount > configuration.maximumReads {
            var reads: [Substring: Int] = [:]
            for (id, entry) in oldest {
                reads[TransactionToken.caller(of: id), default: 0] += entry.transaction.readCount
            }
            let share = configuration.maximumReads / oldest.count
            let callerShare = configuration.maximumReads / reads.count
            let enough = configuration.maximumReads - configuration.maximumReads / 16
            for (id, entry) in oldest.dropLast() where entry.transaction.readCount > share {
                let caller = TransactionToken.caller(of: id)
                guard let own = reads[caller], own > callerShare else { continue }
                reads[caller] = own - entry.transaction.readCount
                Self.remove(id, from: &state)
                if state.readCount <= enough { break }
            }
            guard !isWithinLimits(state) else { return }
        }
        let spare = oldest.count / 16
        for (position, id) in Self.order(oldest.map(\.key)).dropLast().enumerated() {
            guard position < spare || !isWithinLimits(state) else { return }
            Self.remove(id, from: &state)
        }
    }

    /// Returns transactions in the order of removal, by caller in turn, given the least recently used ones first.
    private static func order(_ oldest: [String]) -> [String] {
        var counts: [Substring: Int] = [:]
        let turns = oldest.reversed().map { id -> (id: String, turn: Int) in
            let turn = counts[TransactionToken.caller(of: id), default: 0] + 1
            counts[TransactionToken.caller(of: id)] = turn
            return (id: id, turn: turn)
        }
        return turns.enumerated()
            .sorted { ($0.element.turn, $0.offset) > ($1.element.turn, $1.offset) }
            .map { $0.element.id }
    }
}

/// Transactions in the store, which any of its servers can continue.
struct SharedTransactions: TransactionRecords {
    private static let mostAttempts = 20

    let adapter: any StorageAdapter
    let records: any SharedRecords
    let configuration: StorageServer.Configuration
    /// Admits one change of a record at a time: of several at once, one succeeds, and all others have to try again.
    let turns = TransactionTurns()

    func insert(_ transaction: OpenTransaction, as id: String) async throws(StorageError) {
        let isAdded = try await records.replaceSharedRecord(
            key(id),
            at: nil,
            with: try RecordedTransaction.encoded(transaction),
            keptFor: min(configuration.transactionIdleTime, configuration.transactionLifetime)
        )
        guard isAdded else {
            throw StorageError(.alreadyExists, "the id of a transaction is in use")
        }
    }

    func change<Value: Sendable>(
        _ id: String,
        _ body: @Sendable (inout OpenTransaction) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        try await turns.take(in: id) { () async throws(StorageError) in
            try await changeNow(id, body)
        }
    }

    private func changeNow<Value: Sendable>(
        _ id: String,
        _ body: @Sendable (inout OpenTransaction) throws(StorageError) -> Value
    ) async throws(StorageError) -> Value {
        for _ in 0..<Self.mostAttempts {
            guard let record = try await records.sharedRecord(key(id)) else { break }
            let left = configuration.transactionLifetime - record.age
            guard left > .zero else { break }
            var transaction = try RecordedTransaction.decoded(record.content, from: adapter)
            let value = try body(&transaction)
            let isReplaced = try await records.replaceSharedRecord(
                key(id),
                at: record.version,
                with: try RecordedTransaction.encoded(transaction),
                keptFor: min(configuration.transactionIdleTime, left)
            )
            if isReplaced { return value }
        }
        throw TransactionTable.ended
    }

    func remove(_ id: String) async throws(StorageError) {
        try await records.removeSharedRecord(key(id))
    }

    /// The keys of one caller are equal up to their last slash, by which the store applies its limits.
    private func key(_ id: String) -> String { "transaction/" + id }
}
