#if PostgreSQL
internal import CLibPQ
internal import Foundation
internal import KeelStorageAdapting
internal import Synchronization

struct DatabaseStatement {
    let sql: String
    let arguments: StatementArguments

    init(_ sql: String, _ add: (inout StatementArguments) -> Void = { _ in }) {
        self.sql = sql
        var arguments = StatementArguments()
        add(&arguments)
        self.arguments = arguments
    }
}

struct Beginning {
    let statements: [DatabaseStatement]
    /// Takes the rows of the last statement before those that follow the beginning are returned.
    let take: (DatabaseRows) throws -> Void
}

/// One connection to a server, used on its thread only.
///
/// libpq never blocks: the thread polls the socket together with a pipe, so that a deadline and a canceled task end the
/// wait for the server.
final class DatabaseConnection {
    enum Patience {
        /// At the deadline, or when the task is canceled; the server is asked to stop.
        case interruptible
        /// At the deadline only; the server is not asked to stop, because it may be committing.
        case committing
    }

    let settings: ConnectionSettings
    let pipe: WakePipe
    /// The time limit of one round trip; tests shorten it for single calls.
    var answerLimit: Duration
    var handle: OpaquePointer?
    var prepared: [String: String] = [:]
    private var preparedCount = 0
    /// Whether cancellation does not end a wait, because the work also belongs to other tasks.
    var ignoresCancellation = false

    /// Whether the server's process is reached directly; false behind a pooler, where sessions have no state.
    var isDirect = true
    /// The catalog of the history that the server's data belong to; nil if the connection is closed, or may change
    /// between servers.
    ///
    /// Connections to a primary share it; one to a standby has its own.
    var catalog: StoreCatalog?
    /// The timeline of a primary; nil if the connection is closed, is to a standby, or may change between servers.
    var timeline: Int64?
    /// The tables whose numbers the catalog has (``StoreTail/tables``); nil if they are not known.
    var tables: Int64?
    var writtenTables: Int64?
    /// Whether the server has warned that a standby has not confirmed a commit.
    var isUnconfirmed = false
    var openCount = 0
    var beginning: Beginning?
    private(set) var exchangeCount = 0
    /// The number of groups of statements whose answers are still to be taken: 1 after a read, whose end the next
    /// exchange takes.
    private var openSyncs = 0

    init(_ settings: ConnectionSettings, pipe: WakePipe, answerLimit: Duration) {
        self.settings = settings
        self.pipe = pipe
        self.answerLimit = answerLimit
    }

    deinit { close() }

    var isOpen: Bool { handle != nil }

    /// Whether a transaction is open in which no statement has failed.
    var isInTransaction: Bool {
        handle.map { PQtransactionStatus($0) == PQTRANS_INTRANS } ?? false
    }

    func close() {
        if let handle { PQfinish(handle) }
        handle = nil
        prepared = [:]
        openSyncs = 0
        (catalog, timeline, tables) = (nil, nil, nil)
    }

    private func abandon() {
        close()
        settings.lineage.forgetCatalog()
    }

    // MARK: Running

    /// Runs statements in one round trip, with the beginning of their transaction, and returns their rows.
    ///
    /// A failed statement ends the ones after it.
    ///
    /// - Throws: ``DatabaseFailure``; ``WaitingEnd``, after which the connection is closed unless the server has
    ///   confirmed that it stopped; the errors of opening and of ``Beginning/take``.
    @discardableResult
    func run(
        _ statements: [DatabaseStatement],
        _ patience: Patience = .interruptible
    ) throws -> [DatabaseRows] {
        if let timeline, !settings.lineage.isLatest(timeline, tables) {
            close()
            throw DatabaseFailure.lost("another server was promoted, or the tables are new")
        }
        try openIfNeeded()
        let hadPrepared = !prepared.isEmpty
        do {
            guard let first = beginning.take() else { return try exchange(statements, patience) }
            let results = try exchange(first.statements + statements, patience)
            try first.take(results[first.statements.count - 1])
            return Array(results.dropFirst(first.statements.count))
        } catch let error as DatabaseFailure {
            var failure = error
            if failure.isConnectionLost { abandon() }
            // A prepared statement no longer fits the tables, or is unknown to the server: the next connection has
            // none, and the work runs again on it.
            if hadPrepared, ["0A000", "26000"].contains(failure.state) {
                close()
                failure.isConnectionLost = true
            }
            throw failure
        }
    }

    @discardableResult
    func run(_ statement: DatabaseStatement) throws -> DatabaseRows { try run([statement])[0] }

    @discardableResult
    func exchange(
        _ statements: [DatabaseStatement],
        _ patience: Patience
    ) throws -> [DatabaseRows] {
        guard let handle else { throw DatabaseFailure.lost("the connection is closed") }
        isUnconfirmed = false
        var preparing: [(place: Int, sql: String, name: String)] = []
        var count = 0
        for statement in statements {
            var name = prepared[statement.sql] ?? preparing.last { $0.sql == statement.sql }?.name
            if isDirect, name == nil {
                // Names are never reused, because a canceled exchange may have prepared a statement unnoticed.
                let new = "keel\(preparedCount)"
                preparedCount += 1
                try sent(
                    PQsendPrepare(
                        handle,
                        new,
                        statement.sql,
                        Int32(statement.arguments.count),
                        statement.arguments.types
                    ),
                    on: handle
                )
                preparing.append((count, statement.sql, new))
                count += 1
                name = new
            }
            try send(statement, name: name, on: handle)
            count += 1
        }
        try sendSync(on: handle)
        exchangeCount += 1
        let deadline = ContinuousClock.now + answerLimit
        if openSyncs > 1 { try takeEnd(on: handle, until: deadline, patience) }
        var results: [DatabaseRows] = []
        var failure: DatabaseFailure?
        for place in 0..<count {
            let result = try answer(on: handle, until: deadline, patience)
            // Each statement's results end with none.
            guard let result else {
                throw DatabaseFailure.lost("the server’s answers are incomplete")
            }
            let isPreparing = preparing.first { $0.place == place }
            switch PQresultStatus(result) {
            case PGRES_TUPLES_OK, PGRES_COMMAND_OK:
                if let isPreparing {
                    prepared[isPreparing.sql] = isPreparing.name
                    PQclear(result)
                } else {
                    results.append(DatabaseRows(result))
                }
            case PGRES_PIPELINE_ABORTED: PQclear(result)
            default:
                if failure == nil { failure = DatabaseFailure(result) }
                PQclear(result)
            }
            guard try answer(on: handle, until: deadline, patience) == nil else {
                throw DatabaseFailure.lost("the server sent more than was asked for")
            }
        }
        try takeSync(on: handle, until: deadline, patience)
        if var failure {
            // For a standby, a transaction that writes is a feature that it lacks.
            if failure.state == "0A000", statements[results.count].sql == CommitGroup.begin {
                failure = DatabaseFailure(state: "25006", failure.message)
            }
            // A server that refuses writes has become a standby: the next connection finds the primary. A pooler that
            // has lost its server may say so and keep this connection, but a commit may have taken effect.
            let isElsewhere =
                failure.state.hasPrefix("57P") || failure.state.hasPrefix("08")
                || failure.state == "25006"
            failure.isConnectionLost = isElsewhere || PQstatus(handle) == CONNECTION_BAD
            throw failure
        }
        return results
    }

    func send(
        _ statement: DatabaseStatement,
        name: String?,
        on handle: OpaquePointer
    ) throws {
        let count = Int32(statement.arguments.count)
        let code =
            count == 0
            ? name.map { PQsendQueryPrepared(handle, $0, 0, nil, nil, nil, 1) }
                ?? PQsendQueryParams(handle, statement.sql, 0, nil, nil, nil, nil, 1)
            : statement.arguments.withPointers { values, lengths, formats in
                name.map { PQsendQueryPrepared(handle, $0, count, values, lengths, formats, 1) }
                    ?? PQsendQueryParams(
                        handle,
                        statement.sql,
                        count,
                        statement.arguments.types,
                        values,
                        lengths,
                        formats,
                        1
                    )
            }
        try sent(code, on: handle)
    }

    func sendSync(on handle: OpaquePointer) throws {
        try sent(PQpipelineSync(handle), on: handle)
        openSyncs += 1
    }

    private func takeSync(
        on handle: OpaquePointer,
        until deadline: ContinuousClock.Instant,
        _ patience: Patience
    ) throws {
        guard let sync = try answer(on: handle, until: deadline, patience) else {
            throw DatabaseFailure.lost("the server’s answers are incomplete")
        }
        PQclear(sync)
        openSyncs -= 1
    }

    /// Takes the answer to the end of a read, which has no effect that could have failed.
    private func takeEnd(
        on handle: OpaquePointer,
        until deadline: ContinuousClock.Instant,
        _ patience: Patience
    ) throws {
        while let result = try answer(on: handle, until: deadline, patience) { PQclear(result) }
        try takeSync(on: handle, until: deadline, patience)
    }

    private func sent(_ code: Int32, on handle: OpaquePointer) throws {
        guard code == 1 else { throw lost(handle) }
    }

    func lost(_ handle: OpaquePointer) -> DatabaseFailure {
        let message = PQerrorMessage(handle).map { String(cString: $0) } ?? ""
        let line = message.split(separator: "\n").first.map(String.init)
        return .lost(line ?? "the connection to the server was lost")
    }

    // MARK: Waiting

    /// Returns the next result; nil at the end of a statement's results.
    private func answer(
        on handle: OpaquePointer,
        until deadline: ContinuousClock.Instant,
        _ patience: Patience
    ) throws -> OpaquePointer? {
        while true {
            let flushed = PQflush(handle)
            guard flushed >= 0 else {
                // The server may have said why before it closed the connection.
                guard PQconsumeInput(handle) == 1 else { throw lost(handle) }
                if PQisBusy(handle) == 0 { return PQgetResult(handle) }
                throw lost(handle)
            }
            if PQisBusy(handle) == 0 { return PQgetResult(handle) }
            do {
                try wait(
                    PQsocket(handle),
                    Int16(POLLIN) | (flushed == 1 ? Int16(POLLOUT) : 0),
                    until: deadline,
                    heedsCaller: patience == .interruptible
                )
            } catch let end as WaitingEnd {
                if patience == .interruptible {
                    try stop(handle)
                } else {
                    abandon()
                }
                throw end
            }
            guard PQconsumeInput(handle) == 1 || PQisBusy(handle) == 0 else { throw lost(handle) }
        }
    }

    private func wait(
        _ socket: Int32,
        _ events: Int16,
        until deadline: ContinuousClock.Instant,
        heedsCaller: Bool = true
    ) throws {
        while true {
            if heedsCaller { try heedCaller() }
            let left = deadline - .now
            guard left > .zero else { throw WaitingEnd.timeout }
            if try pipe.wait(socket, events, upTo: left) { return }
        }
    }

    /// Throws ``WaitingEnd`` if the task is canceled.
    func heedCaller() throws {
        if !ignoresCancellation, Task.isCancelled { throw WaitingEnd.cancelled }
    }

    func pause(_ duration: Duration) throws { _ = try pipe.wait(-1, 0, upTo: duration) }

    /// Asks the server to stop its work for this connection, and waits until it has; after two seconds, closes the
    /// connection.
    private func stop(_ handle: OpaquePointer) throws {
        guard let cancel = PQgetCancel(handle) else { return close() }
        let asked = Cancellation(cancel, waking: pipe)
        asked.begin()
        // The task is canceled, but the connection must be clear for the next one.
        let deadline = ContinuousClock.now + .seconds(2)
        do {
            while !asked.isOver {
                guard ContinuousClock.now < deadline else { return abandon() }
                _ = try pipe.wait(-1, 0, upTo: .milliseconds(20))
            }
            while true {
                while PQisBusy(handle) == 1 {
                    let events = PQflush(handle) == 1 ? POLLIN | POLLOUT : POLLIN
                    try wait(PQsocket(handle), Int16(events), until: deadline, heedsCaller: false)
                    guard PQconsumeInput(handle) == 1 else { return abandon() }
                }
                guard let result = PQgetResult(handle) else { continue }
                defer { PQclear(result) }
                guard PQresultStatus(result) == PGRES_PIPELINE_SYNC else { continue }
                openSyncs -= 1
                if openSyncs == 0 { break }
            }
            // A request that came late stops this statement, and not one of the next caller.
            let ignored = ignoresCancellation
            ignoresCancellation = true
            defer { ignoresCancellation = ignored }
            for _ in 0..<2 {
                do {
                    try exchange([DatabaseStatement("ROLLBACK")], .interruptible)
                    return
                } catch let failure as DatabaseFailure where failure.state == "57014" {}
            }
        } catch {
            abandon()
        }
    }

    // MARK: Notifications

    /// Returns the notifications that arrive within a limit; none if the thread is woken.
    func notifications(upTo limit: Duration) throws -> [String] {
        guard let handle else { throw DatabaseFailure.lost("the connection is closed") }
        // libpq has already read announcements that arrived with the answer to a statement.
        let early = received(by: handle)
        guard early.isEmpty else { return early }
        if try pipe.wait(PQsocket(handle), Int16(POLLIN), upTo: limit) {
            guard PQconsumeInput(handle) == 1 else {
                let failure = lost(handle)
                abandon()
                throw failure
            }
        }
        return received(by: handle)
    }

    private func received(by handle: OpaquePointer) -> [String] {
        var payloads: [String] = []
        while let notification = PQnotifies(handle) {
            payloads.append(String(cString: notification.pointee.extra))
            PQfreemem(notification)
        }
        return payloads
    }
}

/// A request to the server to stop, for which libpq opens another connection and blocks.
private final class Cancellation: Sendable {
    private let cancel: UInt
    private let pipe: WakePipe
    private let over = Atomic(false)

    init(_ cancel: OpaquePointer, waking pipe: WakePipe) {
        self.cancel = UInt(bitPattern: cancel)
        self.pipe = pipe
    }

    var isOver: Bool { over.load(ordering: .acquiring) }

    func begin() {
        let thread = Thread { [self] in
            guard let cancel = OpaquePointer(bitPattern: cancel) else { return }
            var message = [CChar](repeating: 0, count: 256)
            _ = PQcancel(cancel, &message, Int32(message.count))
            PQfreeCancel(cancel)
            over.store(true, ordering: .releasing)
            pipe.wake()
        }
        thread.name = "keel.postgresql.cancel"
        thread.start()
    }
}
#endif
