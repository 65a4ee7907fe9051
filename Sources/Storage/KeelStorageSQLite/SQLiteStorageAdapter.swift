#if SQLite
public import GRDB
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

/// An adapter that keeps documents in an SQLite file, Keel's default embedded store.
///
/// ```swift
/// let store = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
/// ```
///
/// Several adapters, in one or several processes, can use one file at the same time; each sees the commits of the
/// others, and notifies its listeners of them. A process killed at any moment leaves no partial writes.
/// ``Configuration/Durability`` describes the effect of a power failure.
///
/// If another file takes the place of the store's, such as a backup, commits and reads that need another connection
/// fail with `StorageError/Code/closed`. Close the adapters before you replace the file with its `-wal` and `-shm`. If
/// a later version of Keel upgrades the file, writes fail with `StorageError/Code/schemaTooNew`, and reads continue.
///
/// Short reads and writes run on the calling thread; the storage client keeps them off the main actor. Longer ones,
/// backups, checks, index builds and ``compact()`` run on other threads. All of these except commits end soon after
/// their task is canceled. Commits that arrive while another one is written, and calls on a file that another
/// connection keeps locked, wait without blocking a thread; waiting commits are then written together in one
/// transaction. Reads that overlap without a pause keep SQLite from emptying its write-ahead log: when it has 64 MiB,
/// commits wait, for at most a second, until these reads have ended.
///
/// | Capability | Support |
/// |---|---|
/// | Change log, origins, query changes, transactions, idempotent commits, aggregation | Yes |
/// | Declared indexes, collection listing, replication | Yes |
/// | Checked reads, held reads | Yes; up to eight held states, each for up to one minute |
/// | Text search | Yes, with FTS5; with sealing only if allowed |
/// | Reads of the past | If the file keeps a ``Configuration/history`` |
/// | Offline writes | Not applicable: the store is local |
public final class SQLiteStorageAdapter: StorageAdapter {
    /// The adapter's settings.
    public let configuration: Configuration

    /// GRDB's connections to the file, for operations that the adapter does not offer.
    ///
    /// The adapter writes through them, and has connections of its own for reads.
    ///
    /// The sources describe the tables (`StoreFormat`). Do not write to Keel's tables: documents, index entries and
    /// change log must change together. An app may add tables whose names begin with its own name. GRDB's
    /// `ValueObservation` does not see Keel's writes; use a listener of the storage client.
    public let databasePool: DatabasePool

    /// The file's path; if the location is a symbolic link, the path of the file to which it leads.
    public let path: String

    let connections: ReadConnections
    let epoch: UInt64
    let keepsHistory: Bool
    let catalog = StoreCatalog()
    let signal = Signal()
    let trimming = TrimmingPace()
    let forgetting = ForgettingPace()
    let logPace: LogPace
    let readers: ReaderPace
    let line = CommitLine()
    /// The store's state after the last commit of this adapter; nil if the next commit must read it.
    let tail = Mutex<CommitSession.Tail?>(nil)
    private let reads: TaskQueue
    let building = IndexBuilding()
    let watch: CommitWatch
    let threads = DiskThreads()
    let copying = MaintenanceThread("keel.storage.copying")
    let maintenance = MaintenanceThread("keel.storage.maintenance")
    /// The held read transactions, during which the log file only grows.
    let held: HeldStates<DatabaseSnapshot>
    let sealing: BodySealing

    /// Opens the store at a location, creating a missing folder or file; blocks the thread while the file is locked,
    /// for at most ``Configuration/busyTimeout``.
    ///
    /// - Throws: `StorageError/Code/corrupted` for a file that is damaged or not a Keel store,
    ///   `StorageError/Code/schemaTooNew` for a file of a later version, `StorageError/Code/permissionDenied` for a
    ///   missing, unnecessary or wrong key, `StorageError/Code/unavailable` for a missing file that is opened
    ///   read-only, `StorageError/Code/invalidArgument` for a location that cannot be one,
    ///   `StorageError/Code/readOnly`, `StorageError/Code/diskFull` or `StorageError/Code/busy`.
    public init(
        at location: SQLiteStorageLocation,
        configuration: Configuration = Configuration()
    ) throws(StorageError) {
        self.configuration = configuration
        sealing = BodySealing(sealing: configuration.sealing)
        held = HeldStates(clock: configuration.clock)
        readers = ReaderPace(configuration.clock)
        reads = TaskQueue(admitting: configuration.readerCount)
        let opened = try StorageError.mapping {
            try StoreOpening(location: location, configuration: configuration).open()
        }
        (databasePool, path, epoch) = (opened.pool, opened.path, opened.epoch)
        connections = opened.connections
        logPace = LogPace(of: opened.path, limit: configuration.longestLog)
        watch = CommitWatch(
            file: configuration.usesFileEvents ? opened.path + "-wal" : nil,
            interval: configuration.pollInterval,
            clock: configuration.clock,
            raising: signal,
            readSequence: { [connections = opened.connections] in
                try connections.read { try StoreState.sequence(in: $0) }
            }
        )
        keepsHistory = try StorageError.mapping {
            try opened.connections.read { try StoredHistory($0) != nil }
        }
    }

    public var capabilities: StorageCapabilities {
        var capabilities: StorageCapabilities = [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .checkedReads, .heldReads, .origins,
            .queryChanges,
        ]
        if allowsTextSearch { capabilities.insert(.textSearch) }
        if keepsHistory { capabilities.insert(.pointInTimeReads) }
        return capabilities
    }

    var allowsTextSearch: Bool {
        configuration.sealing == nil || configuration.allowsPlaintextSearch
    }

    /// Closes the connections; later calls throw `StorageError/Code/closed`.
    ///
    /// Releasing the adapter closes them too, but may leave changes in the write-ahead log.
    public func close() throws(StorageError) {
        held.endAll()
        building.end()
        watch.close()
        if !configuration.isReadOnly {
            // The readers are closed last, and SQLite cannot empty the log through a read-only connection. Readers of
            // other programs may prevent it, which is harmless.
            try? databasePool.writeWithoutTransaction { database in
                _ = try database.checkpoint(.truncate)
                // Leave one page in the log: if it is empty, GRDB's next opening creates and drops a table, which waits
                // for the disk. The version is read in the transaction, because another process may be changing it.
                try database.inTransaction(.immediate) {
                    let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                    try database.execute(sql: "PRAGMA user_version = \(version)")
                    return .commit
                }
            }
        }
        defer {
            connections.close()
            signal.raise()
        }
        try StorageError.mapping { try databasePool.close() }
    }

    // MARK: Access to the file

    func opensProof(in database: Database) throws -> Bool {
        sealing.opens(try StoreFormat.meta(StoreFormat.proofKey, in: database))
    }

    func reader(_ database: Database, remembers: Bool = true) -> StoreReader {
        StoreReader(database: database, catalog: catalog, sealing: sealing, remembers: remembers)
    }

    func reading<Value>(_ read: () throws -> Value) async throws(StorageError) -> Value {
        guard await reads.enter() else { throw .cancellation }
        defer { reads.leave() }
        return try await whileBusy(read)
    }

    func readingLong<Value: Sendable>(
        _ read: @Sendable () throws -> Value
    ) async throws(StorageError) -> Value {
        guard await reads.enter() else { throw .cancellation }
        defer { reads.leave() }
        return try await threads.run { () async throws(StorageError) in try await whileBusy(read) }
    }

    func readOnce<Value>(_ read: (StoreReader) throws -> Value) throws -> Value {
        try connections.read { try read(reader($0)) }
    }

    func readSnapshot<Value>(_ read: (StoreReader) throws -> Value) throws -> Value {
        try connections.read { database in
            try database.inSnapshot { try read(reader(database)) }
        }
    }

    /// Calls `attempt` until no other connection keeps the file locked, or the timeout has passed: `limit`, or that of
    /// the configuration.
    func whileBusy<Value>(
        upTo limit: Duration? = nil,
        _ attempt: () throws -> Value
    ) async throws(StorageError) -> Value {
        var pause = Duration.milliseconds(1)
        var waited = Duration.zero
        while true {
            if Task.isCancelled { throw .cancellation }
            do {
                return try attempt()
            } catch let error as DatabaseError
                where error.isBusy && waited < limit ?? configuration.busyTimeout
            {
                try? await configuration.clock.sleep(for: pause)
                waited += pause
                pause = min(pause * 2, .milliseconds(50))
            } catch {
                throw StorageError(mapping: error)
            }
        }
    }
}
#else
/// Keel's default embedded adapter, which needs the package's `SQLite` trait.
@available(
    *,
    unavailable,
    message: "Enable the 'SQLite' trait of the keel package to use this adapter."
)
public enum SQLiteStorageAdapter: Sendable {}
#endif
