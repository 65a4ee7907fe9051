import Foundation
import GRDB
import KeelStorage
import KeelStorageSQLite

/// The same documents in a Keel store and in a peer's file, each in a separate folder.
final class StorePair: Sendable {
    /// The indexed fields of both sides.
    enum Indexing: String, Sendable {
        /// An index on `city` and one on `score`.
        case two
        /// An index on `district`, then `score` in descending order.
        case composite

        var schema: StorageSchema {
            switch self {
            case .two:
                StorageSchema(indexes: [
                    IndexDefinition("places", [.ascending("city")]),
                    IndexDefinition("places", [.ascending("score")]),
                ])
            case .composite:
                StorageSchema(indexes: [
                    IndexDefinition("places", [.ascending("district"), .descending("score")])
                ])
            }
        }

        /// The value of the peer's column `category`.
        func category(_ place: Place) -> String {
            self == .two ? place.city : place.district
        }
    }

    let keelFile: URL
    let peerFile: URL
    let indexing: Indexing
    let count: Int
    let adapter: SQLiteStorageAdapter
    let client: StorageClient
    let peer: PeerStore

    var places: DocumentCollection<Place> { client.collection("places", as: Place.self) }

    @concurrent
    init(
        _ indexing: Indexing,
        count: Int,
        in folder: URL,
        body: PeerStore.Body = .cbor,
        history: Duration? = nil
    ) async throws {
        let own = folder.appending(path: "\(indexing.rawValue)-\(count)-\(UUID().uuidString)")
        try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
        keelFile = own.appending(path: "keel.sqlite")
        peerFile = own.appending(path: "peer.sqlite")
        self.indexing = indexing
        self.count = count
        var configuration = SQLiteStorageAdapter.Configuration()
        configuration.history = history
        adapter = try SQLiteStorageAdapter(at: .file(keelFile), configuration: configuration)
        client = StorageClient(adapter, schema: indexing.schema)
        peer = try PeerStore(peerFile.path, indexing, body: body)
        try await client.prepare()
        for start in stride(from: 0, to: count, by: 10_000) {
            let places = (start..<min(start + 10_000, count)).map(Place.init)
            try await self.places.saveAll(places)
            try PeerBulkSet.run(places, in: peer)
        }
    }

    /// Closes both files with empty write-ahead logs.
    ///
    /// GRDB leaves the log of a pool that has read, and the next opening would replay it; Keel's `close` empties it.
    func close() throws {
        try adapter.close()
        try peer.pool.writeWithoutTransaction { _ = try $0.checkpoint(.truncate) }
        try peer.pool.close()
    }
}
