#if PostgreSQL
internal import KeelCore
public import KeelStorageAdapting
internal import Synchronization

/// An adapter that keeps documents in a PostgreSQL database.
///
/// ```swift
/// let store = StorageClient(
///     try await PostgreSQLStorageAdapter(at: .url("postgres://keel@db.example.com/keel"))
/// )
/// ```
///
/// Any number of adapters, on any number of machines, can use one store at the same time; each notifies its listeners
/// of the commits of all. Commits of an adapter that arrive while others are being written form a group, which is one
/// transaction.
///
/// The tables are in the schema `keel`, which the adapter creates if it is missing. Only Keel may write to them; give
/// other programs another role.
///
/// Calls run on threads of the adapter, one for each connection. They end soon after their task is canceled, except for
/// commits that are being written.
public final class PostgreSQLStorageAdapter: StorageAdapter {
    /// The adapter's settings.
    public let configuration: Configuration
    /// The address of the database.
    public let location: PostgreSQLStorageLocation

    let pool: ConnectionPool
    /// Nil if the location has only one host.
    let standbys: StandbyPool?
    let store: OpenStore
    /// Gathers, because a group has two round trips.
    let line = CommitLine(gatheringUpTo: .microseconds(500))
    let pointReads: PointReads
    let signal = Signal()
    let watch: ChangeWatch
    let counts = WorkCounts()
    let building = IndexBuilding()
    let trimming = TrimmingPace()
    let forgetting = ForgettingPace()
    let readers: ReaderPace
    let held: HeldStates<ConnectionThread>
    let groups = Atomic<Int64>(0)
    /// The number of attempts to add a shared record.
    let addedRecords = Atomic<Int64>(0)

    /// Connects to a database, and opens or creates the store in it.
    ///
    /// - Throws: `StorageError/Code/invalidArgument` for a URL that cannot be read, an `sslmode` that does not verify
    ///   the server's name, a database or store that does not exist, or an invalid name of a store;
    ///   `StorageError/Code/unavailable` for a server that cannot be reached or cannot prove its name;
    ///   `StorageError/Code/unsupported` for a server older than PostgreSQL 14; `StorageError/Code/timeout` for a server
    ///   that accepts the connection but does not answer; `StorageError/Code/busy` for locked tables or a server without
    ///   a free connection;
    ///   `StorageError/Code/unauthenticated` for a refused role or password; `StorageError/Code/permissionDenied` for a
    ///   role without the rights, or a missing, unnecessary or wrong key; `StorageError/Code/schemaTooNew` for a store
    ///   of a later version.
    public init(
        at location: PostgreSQLStorageLocation,
        configuration: Configuration = Configuration()
    ) async throws(StorageError) {
        self.configuration = configuration
        self.location = location
        held = HeldStates(clock: configuration.clock)
        readers = ReaderPace(configuration.clock)
        do throws(StorageError) {
            let settings = try ConnectionSettings(
                location,
                allowsUnverifiedServers: configuration.allowsUnverifiedServers
            )
            let pool = try ConnectionPool(
                settings,
                readerCount: configuration.readerCount,
                answerLimit: configuration.answerTimeout,
                clock: configuration.clock
            )
            let store = try await pool.writer.run { try OpenStore(configuration, on: $0) }
            watch = try ChangeWatch(
                settings,
                answerLimit: configuration.answerTimeout,
                store: store.number,
                raising: signal
            )
            standbys = try settings.forStandbys().map { settings throws(StorageError) in
                try StandbyPool(settings, beside: pool, of: store, configuration)
            }
            settings.lineage.expect(store)
            (self.pool, self.store) = (pool, store)
            pointReads = PointReads { await pool.documents(at: $0, in: store, then: $1) }
        } catch {
            throw error.during("open", on: location.description)
        }
    }

    public var capabilities: StorageCapabilities {
        var capabilities: StorageCapabilities = [
            .changeLog, .transactions, .idempotentCommits, .aggregation, .declaredIndexes,
            .replication, .collectionListing, .checkedReads, .heldReads, .origins,
            .queryChanges,
        ]
        if allowsTextSearch { capabilities.insert(.textSearch) }
        if store.keepsHistory { capabilities.insert(.pointInTimeReads) }
        return capabilities
    }

    /// Closes the connections; later calls throw `StorageError/Code/closed`.
    ///
    /// A commit in progress ends first. Reads in progress end with their results, and then release their connections.
    public func close() async {
        held.endAll()
        building.end()
        watch.close()
        await standbys?.close()
        await pool.close()
        signal.raise()
    }
}
#else
/// The adapter that keeps documents in PostgreSQL, which needs the package's `PostgreSQL` trait.
@available(
    *,
    unavailable,
    message: "Enable the 'PostgreSQL' trait of the keel package to use this adapter."
)
public enum PostgreSQLStorageAdapter: Sendable {}
#endif
