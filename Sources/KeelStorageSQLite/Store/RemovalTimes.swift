#if SQLite
internal import GRDB
internal import KeelStorageAdapting

/// When documents were removed, so that one that is created again gets a later time.
///
/// A removal's time is the store's, which is its place in the change log, and of those that have another
/// one `removal_times` tells. As long as the clock is right, a creation is later than any of them, and
/// nothing is looked up. It is told as long as the log has the removal.
struct RemovalTimes {
    private let statements: WriteStatements
    /// Whether a removal may have a time that is not its place; nil before the first look.
    private var hasOthers: Bool?

    static let tables = """
        CREATE TABLE IF NOT EXISTS removal_times(
            seq INTEGER PRIMARY KEY, time INTEGER NOT NULL
        ) STRICT;
        CREATE INDEX IF NOT EXISTS removals ON changes(cid, id, seq) WHERE removed = 1;
        """

    init(_ statements: WriteStatements) { self.statements = statements }

    /// When a document that is missing was removed.
    ///
    /// - Parameters:
    ///   - id: The document's id.
    ///   - collection: The number of its collection.
    ///   - commit: The commit that may create it again.
    /// - Returns: The time; nil if it is not known, or cannot be later than the commit's own.
    /// - Throws: What SQLite throws.
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

    /// The time of the removal at a place in the log.
    static func time(of sequence: Int64, in database: Database) throws -> Timestamp {
        let statement = try RawStatement(database, "SELECT time FROM removal_times WHERE seq = ?")
        try statement.bind(1, sequence)
        return Timestamp(microseconds: try statement.first { $0.integer(0) } ?? sequence)
    }

    /// Notes the time of a removal, where its place does not tell it.
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
