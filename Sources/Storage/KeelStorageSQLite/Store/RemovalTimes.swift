#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// The times of removals, so that a document that is created again gets a later time.
///
/// The time of a removal is its sequence in the change log, unless `removal_times` has another. It is known as long as
/// the log has the removal.
struct RemovalTimes {
    private let statements: WriteStatements
    private var hasOthers: Bool?

    static let tables = """
        CREATE TABLE IF NOT EXISTS removal_times(
            seq INTEGER PRIMARY KEY, time INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS removals ON changes(cid, id, seq) WHERE removed = 1;
        """

    init(_ statements: WriteStatements) { self.statements = statements }

    /// Returns the time when a missing document was removed; nil if it is unknown, or cannot be later than the time of
    /// a commit that creates the document again.
    mutating func time(
        of id: String,
        in collection: Int64,
        at commit: StorageEvaluator.Commit
    ) throws -> Timestamp? {
        if commit.time == commit.storeTime {
            if hasOthers == nil {
                hasOthers = try RawStatement(
                    statements.database,
                    "SELECT EXISTS (SELECT 1 FROM removal_times)"
                ).first { $0.integer(0) != 0 }
            }
            guard hasOthers == true else { return nil }
        }
        let statement = try statements[.findRemoval]
        try statement.bind(1, collection)
        try statement.bind(2, id)
        return try statement.first { Timestamp(microseconds: $0.integer(0)) }
    }

    static func time(of sequence: Int64, in database: Database) throws -> Timestamp {
        let statement = try RawStatement(database, "SELECT time FROM removal_times WHERE seq = ?")
        try statement.bind(1, sequence)
        return Timestamp(microseconds: try statement.first { $0.integer(0) } ?? sequence)
    }

    mutating func note(
        _ time: Timestamp,
        of sequence: Int64,
        at commit: StorageEvaluator.Commit
    ) throws {
        guard time != commit.storeTime else { return }
        hasOthers = true
        let statement = try statements[.insertRemovalTime]
        try statement.bind(1, sequence)
        try statement.bind(2, time.microseconds)
        try statement.run()
    }
}
#endif
