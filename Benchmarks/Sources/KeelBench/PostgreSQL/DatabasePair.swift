#if PostgreSQL
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStoragePostgreSQL

/// The server and the peer of the group, each started on first use.
struct DatabaseBench: Sendable {
    let server: Lazily<DatabaseServer>
    let peer: Lazily<PostgreSQLPeer>

    init(_ options: Options) {
        server = Lazily { try await DatabaseServer() }
        peer = Lazily { try await PostgreSQLPeer(options) }
    }

    /// Creates an empty database, and returns its URL.
    @concurrent
    func createDatabase(_ name: String) async throws -> String {
        let server = try await server.value()
        try await peer.value().run(server.url(of: "postgres"), ["sql", "CREATE DATABASE \(name)"])
        return server.url(of: name)
    }

    /// Creates a database with a Keel store, and returns both.
    @concurrent
    func create(_ name: String) async throws -> (url: String, adapter: PostgreSQLStorageAdapter) {
        let url = try await createDatabase(name)
        return (url, try await PostgreSQLStorageAdapter(at: .url(url)))
    }

    /// Lets the server clean up and learn the sizes of its tables.
    @concurrent
    func settle(_ url: String) async throws {
        try await peer.value().run(url, ["sql", "VACUUM ANALYZE", "CHECKPOINT"])
    }

    /// A store of a size in a database of its own, filled on first use.
    func sized(_ name: String, _ count: Int) -> Lazily<(url: String, store: SizedStore)> {
        Lazily {
            let (url, adapter) = try await create(name)
            let store = try await SizedStore(count, in: adapter)
            try await settle(url)
            return (url, store)
        }
    }
}

/// A database with places in a Keel store, and with the same rows in tables of the peer.
final class DatabasePair: Sendable {
    let url: String
    let adapter: PostgreSQLStorageAdapter
    let client: StorageClient
    let count: Int
    /// The position before the documents were stored.
    let start: ChangeCursor
    private let peer: PostgreSQLPeer

    var places: DocumentCollection<Place> { client.collection("places", as: Place.self) }

    static let indexes = StorageSchema(indexes: [
        IndexDefinition("places", [.ascending("city")]),
        IndexDefinition("places", [.ascending("score")]),
    ])

    @concurrent
    init(
        _ name: String,
        count: Int,
        schema: StorageSchema = StorageSchema(indexes: []),
        on bench: DatabaseBench
    ) async throws {
        peer = try await bench.peer.value()
        (url, adapter) = try await bench.create(name)
        self.count = count
        client = StorageClient(adapter, schema: schema)
        try await client.prepare()
        start = try await Self.position(adapter)
        for first in stride(from: 0, to: count, by: 10_000) {
            try await client.collection("places", as: Place.self)
                .saveAll((first..<min(first + 10_000, count)).map(Place.init))
        }
        try await peer.run(url, ["create"])
        try await bench.settle(url)
    }

    /// Returns the position of a store's last change.
    static func position(_ adapter: PostgreSQLStorageAdapter) async throws -> ChangeCursor {
        var request = ReadRequest(.documents([]))
        request.needsPosition = true
        guard let position = try await adapter.read(request).position else {
            throw Flaw("the store has no position")
        }
        return position
    }

    /// Runs the peer, and returns its figure.
    @concurrent
    func peer(_ arguments: [String]) async throws -> Double {
        try await peer.run(url, arguments)
    }

    /// Returns existing paths in random order.
    func paths(_ count: Int) -> [DocumentPath] {
        (0..<count).map { _ in DocumentPath("places", Place.id(Int.random(in: 0..<self.count))) }
    }

    /// Returns writes whose bodies are ready, as the peer's are; each changes its document and both indexed fields.
    func writes(_ count: Int) throws -> [DocumentWrite] {
        let encoder = DocumentEncoder()
        return try (0..<count).map { _ in
            let change = Int.random(in: 0..<1_000_000_000)
            var place = Place(Int.random(in: 0..<self.count))
            place.city = Place.city(change)
            place.score = change
            place.note = "visited \(change) times, " + place.note.dropFirst(30)
            return DocumentWrite(DocumentPath("places", place.id), .set(try encoder.encode(place)))
        }
    }
}
#endif
