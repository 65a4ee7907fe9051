import Foundation
import GRDB
import KeelStorage

/// The peer's file: what an experienced GRDB developer would write for documents in a collection.
///
/// It is a `DatabasePool` with the write-ahead log, `synchronous=NORMAL` and the cache of Keel's default, with
/// the indexed fields in columns, the rest in a blob, and a change log. Its single collection needs no column. It has
/// no types besides the columns, no preconditions, no revisions of removed documents, and no readers in other
/// processes.
struct PeerStore: Sendable {
    /// The contents of the blob.
    enum Body: Sendable {
        case cbor
        case json
    }

    /// GRDB's defaults, but a cache of 8 MiB for each connection, as Keel's.
    static var settings: Configuration {
        var settings = Configuration()
        settings.prepareDatabase { try $0.execute(sql: "PRAGMA cache_size = -8192") }
        return settings
    }

    let pool: DatabasePool
    let body: Body
    private let indexing: StorePair.Indexing

    /// Opens an existing file.
    init(opening path: String, _ indexing: StorePair.Indexing, body: Body) throws {
        pool = try DatabasePool(path: path, configuration: Self.settings)
        self.indexing = indexing
        self.body = body
    }

    /// Creates a file.
    init(_ path: String, _ indexing: StorePair.Indexing, body: Body) throws {
        pool = try DatabasePool(path: path, configuration: Self.settings)
        self.indexing = indexing
        self.body = body
        let indexes =
            switch indexing {
            case .two:
                """
                CREATE INDEX by_category ON documents(category);
                CREATE INDEX by_score ON documents(score);
                """
            case .composite:
                "CREATE INDEX by_category_and_score ON documents(category, score DESC);"
            }
        try pool.write { database in
            try database.execute(
                sql: """
                    CREATE TABLE documents(
                        id TEXT PRIMARY KEY NOT NULL,
                        rev INTEGER NOT NULL,
                        updated INTEGER NOT NULL,
                        category TEXT NOT NULL,
                        score INTEGER NOT NULL,
                        body BLOB NOT NULL
                    );
                    CREATE TABLE changes(
                        seq INTEGER PRIMARY KEY, id TEXT NOT NULL, rev INTEGER NOT NULL
                    );
                    \(indexes)
                    """
            )
        }
    }

    func category(_ place: Place) -> String { indexing.category(place) }

    /// Returns the blob of a place: the bytes that Keel stores, or the same fields as JSON.
    func encoded(_ place: Place) throws -> Data {
        switch body {
        case .cbor: Data(try DocumentEncoder().encode(place).bytes)
        case .json: try JSONEncoder().encode(place)
        }
    }

    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}
