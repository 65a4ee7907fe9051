#if SQLite
public import GRDB
internal import KeelCore
public import KeelStorageAdapting

/// An adapter that keeps documents in an SQLite file: Keel's embedded default.
///
/// ```swift
/// let store = StorageClient(try SQLiteStorageAdapter(at: .applicationSupport("Notes")))
/// ```
///
/// Several adapters, also in several processes, can work on one file at the same time; what one
/// commits, the others see, and their listeners are told. Every commit writes the documents, the
/// indexes and the change log in one transaction, so that a process that is killed at any moment
/// leaves nothing half-written. ``Configuration/Durability`` says what a power failure may cost.
///
/// Reads and writes run on the calling thread; the storage client keeps them away from the main
/// actor. Backups, checks, builds of indexes and ``compact()`` have threads of their own. A read ends
/// soon after its task was cancelled, and so do these. Commits that come while another one is written wait without blocking a thread, and are
/// then written together, in one transaction that one of the callers makes; each keeps its own
/// effect and answer. A file that another program keeps locked is waited for in the same way.
///
/// | capability | |
/// |---|---|
/// | change log, transactions, idempotent commits, aggregation | yes |
/// | declared indexes, collection listing, replication | yes |
/// | checked reads, held reads | yes; eight states are held at a time, for a minute at most |
/// | text search | yes, with FTS5; under sealing only when allowed |
/// | reads of the past | where the file keeps a ``Configuration/history`` |
/// | writes without a connection | there is none to lose |
public final class SQLiteStorageAdapter: StorageAdapter {
    /// The adapter's settings.
    public let configuration: Configuration

    /// GRDB's connections to the file, for what the adapter does not offer.
    ///
    /// Read as much as you like: the tables are described in the sources (`StoreFormat`). Do not
    /// write to Keel's tables: documents, index entries and change log must change together. Tables
    /// of your own are welcome under names that begin with your app's. GRDB's `ValueObservation`
    /// does not see Keel's writes; use a listener of the storage client.
    public let databasePool: DatabasePool

    /// The file's path.
    public let path: String

    let epoch: UInt64
    /// Whether the file had a history when it was opened.
    let keepsHistory: Bool
    let catalog = StoreCatalog()
    let signal = Signal()
    let trimming = TrimmingPace()
    let forgetting = ForgettingPace()
    let readers: ReaderPace
    let line = CommitLine()
    let building = IndexBuilding()
    let watch: CommitWatch
    /// Where backups and checks run.
    let copying = MaintenanceThread("keel.storage.copying")
    /// Where indexes are built and the file is compacted.
    let maintenance = MaintenanceThread("keel.storage.maintenance")
    /// Read transactions that are kept open.
    ///
    /// While there is one, the log file only grows.
    let held: HeldStates<DatabaseSnapshot>
    let sealing: BodySealing

    /// Opens the store at a location, creating the folder and the file where they are missing.
    ///
    /// - Throws: `StorageError/Code/corrupted` for a file that is damaged or no Keel store,
    ///   `StorageError/Code/schemaTooNew` for one that a later version wrote,
    ///   `StorageError/Code/permissionDenied` for a missing or wrong key,
    ///   `StorageError/Code/readOnly`, `StorageError/Code/diskFull` and
    ///   `StorageError/Code/busy` as they say.
    public init(
        at location: SQLiteStorageLocation,
        configuration: Configuration = Configuration()
    ) throws(StorageError) {
        self.configuration = configuration
        sealing = BodySealing(sealing: configuration.sealing)
        held = HeldStates(clock: configuration.clock)
        readers = ReaderPace(configuration.clock)
        let opened = try StorageError.mapping {
            try StoreOpening(location: location, configuration: configuration).open()
        }
        (databasePool, path, epoch) = (opened.pool, opened.path, opened.epoch)
        watch = CommitWatch(
            file: configuration.usesFileEvents ? opened.path + "-wal" : nil,
            interval: configuration.pollInterval,
            clock: configuration.clock,
            raising: signal,
            readSequence: { [pool = opened.pool] in
                try pool.unsafeRead { try StoreState.sequence(in: $0) }
            }
        )
        keepsHistory = try StorageError.mapping {
            try opened.pool.unsafeRead { try StoredHistory($0) != nil }
        }
    }

    public var capabilities: StorageCapabilities {
        var capabilities: StorageCapabilities = [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .checkedReads, .heldReads, .origins,
        ]
        if allowsTextSearch { capabilities.insert(.textSearch) }
        if keepsHistory { capabilities.insert(.pointInTimeReads) }
        return capabilities
    }

    /// Whether words may be written to the file in the clear.
    var allowsTextSearch: Bool {
        configuration.sealing == nil || configuration.allowsSearchableText
    }

    /// Closes the connections; every later call fails with `StorageError/Code/closed`.
    ///
    /// An adapter that is simply let go closes them too, but may leave changes in the write-ahead
    /// log, which the next opening must then replay.
    public func close() throws(StorageError) {
        held.endAll()
        building.end()
        watch.close()
        if !configuration.isReadOnly {
            // GRDB closes its readers last, and SQLite cannot empty the log on behalf of a
            // connection that only reads. Somebody else's reading may stand in the way: no matter.
            try? databasePool.writeWithoutTransaction { database in
                _ = try database.checkpoint(.truncate)
                // One page in the log: where it is empty, GRDB's next opening makes and drops a
                // table, which waits for the disk.
                // The version as it is, which another process may be about to change.
                try database.inTransaction(.immediate) {
                    let version = try Int64.fetchOne(database, sql: "PRAGMA user_version") ?? 0
                    try database.execute(sql: "PRAGMA user_version = \(version)")
                    return .commit
                }
            }
        }
        try StorageError.mapping { try databasePool.close() }
        signal.raise()
    }

    // MARK: Access to the file

    /// Whether the store's key is at hand, and opens what it has sealed.
    func opensProof(in database: Database) throws -> Bool {
        guard let sealing = configuration.sealing else { return true }
        return StoreOpening.isProof(try StoreFormat.meta("seal", in: database), for: sealing)
    }

    func reader(_ database: Database, remembers: Bool = true) -> StoreReader {
        StoreReader(database: database, catalog: catalog, sealing: sealing, remembers: remembers)
    }

    /// Reads with one statement, which is its own snapshot.
    func readOnce<Value>(_ read: (StoreReader) throws -> Value) throws -> Value {
        try databasePool.unsafeRead { try read(reader($0)) }
    }

    /// Reads with several statements in one snapshot.
    func readSnapshot<Value>(_ read: (StoreReader) throws -> Value) throws -> Value {
        try databasePool.unsafeRead { database in
            try database.inSnapshot { try read(reader(database)) }
        }
    }

    /// Calls `attempt` again while another connection keeps the file locked.
    ///
    /// SQLite's own waiting would block a thread of Swift's pool, of which there are as few as
    /// processors.
    func whileBusy<Value>(
        _ attempt: () throws -> Value
    ) async throws(StorageError) -> Value {
        var pause = Duration.milliseconds(1)
        var waited = Duration.zero
        while true {
            if Task.isCancelled { throw .cancellation }
            do {
                return try attempt()
            } catch let error as DatabaseError
                where error.isBusy && waited < configuration.busyTimeout
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
/// The embedded default adapter, which needs the package's `SQLite` trait.
@available(
    *,
    unavailable,
    message: "Enable the 'SQLite' trait of the keel package to use this adapter."
)
public enum SQLiteStorageAdapter: Sendable {}
#endif
