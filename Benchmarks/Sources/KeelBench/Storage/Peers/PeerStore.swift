import Foundation
import GRDB
import KeelStorage

/// The peer's file: what a competent user of GRDB would write for documents in a collection.
///
/// A `DatabasePool` with its defaults, which are the write-ahead log and `synchronous=NORMAL` as in
/// Keel's default; the indexed fields in columns; the rest in a blob; a log of changes. Its one
/// collection needs no column. It has no other promises to keep: no types beside the columns, no
/// preconditions, no revisions of removed documents, no readers in other processes.
struct PeerStore: Sendable {
    /// What the blob holds.
    enum Body: Sendable {
        case cbor
        case json
    }

    let pool: DatabasePool
    let body: Body
    private let indexing: StorePair.Indexing

    /// Opens a file that another has made.
    init(opening path: String, _ indexing: StorePair.Indexing, body: Body) throws {
        pool = try DatabasePool(path: path)
        self.indexing = indexing
        self.body = body
    }

    /// Makes a file.
    init(_ path: String, _ indexing: StorePair.Indexing, body: Body) throws {
        pool = try DatabasePool(path: path)
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

    /// The blob of a place: the very bytes that Keel stores, or the same fields as JSON.
    func encoded(_ place: Place) throws -> Data {
        switch body {
        case .cbor: Data(try DocumentEncoder().encode(place).bytes)
        case .json: try JSONEncoder().encode(place)
        }
    }

    static func now() -> Int64 { Int64(Date().timeIntervalSince1970 * 1_000_000) }
}
