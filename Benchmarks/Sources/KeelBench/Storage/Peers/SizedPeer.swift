import Foundation

/// A peer's file with the documents of a ``SizedStore``, filled on first use.
///
/// All are in one table, whose key is the id; as in Keel, half of them are read.
struct SizedPeer: Sendable {
    private let count: Int
    private let store: Lazily<PeerStore>

    init(_ count: Int, in folder: URL) {
        self.count = count
        let own = folder.appending(path: "sized-peer-\(count)-\(UUID().uuidString)")
        store = Lazily {
            try FileManager.default.createDirectory(at: own, withIntermediateDirectories: true)
            let store = try PeerStore(
                own.appending(path: "peer.sqlite").path,
                .composite,
                body: .cbor
            )
            for first in stride(from: 0, to: count, by: 5_000) {
                let places = (first..<min(first + 5_000, count)).map(Place.init)
                try PeerBulkSet.run(places, in: store)
            }
            return store
        }
    }

    /// Returns the time of reading one blob by its id, in microseconds.
    @concurrent
    func gets(_ options: Options) async throws -> Double {
        let store = try await store.value()
        return try Timing.perCall(options.scaled(5_000)) { number in
            guard try PeerGet.body(SizedStore.id(number, of: count), in: store) != nil else {
                throw Flaw("the row is missing")
            }
        }
    }

    /// Returns the time of changing a document and one of its indexed fields, in microseconds.
    @concurrent
    func sets(_ options: Options) async throws -> Double {
        let store = try await store.value()
        return try Timing.perCall(options.scaled(500)) { number in
            try PeerSet.run(SizedStore.changed(number, of: count), scoreChanges: true, in: store)
        }
    }
}
