import Foundation
import GRDB
import KeelStorage
import KeelStorageSQLite
import Synchronization

extension StorageGroup {
    // MARK: Live queries

    /// Measures from the call that commits a change to the snapshot at a typed listener, including the commit; against
    /// running the query again and decoding its result.
    ///
    /// A reader that keeps the last snapshot, as a view does, makes the listener copy the array of 10,000 values for
    /// the next one, which a separate row measures.
    static func live(
        _ pair: Lazily<StorePair>,
        _ options: Options,
        keepsSnapshot: Bool
    ) -> Measure {
        Measure(
            name: "live query of 10,000, one change / rerun" + (keepsSnapshot ? ", kept" : ""),
            target: keepsSnapshot ? .info : .atLeast(50),
            keel: {
                try await followed(
                    try await pair.value(),
                    changes: options.scaled(50),
                    keepsSnapshot
                )
            },
            peer: {
                let pair = try await pair.value()
                return try Timing.perCall(3) { number in
                    let places = try PeerQuery.run(
                        district: Place.district(3),
                        limit: -1,
                        in: pair.peer
                    )
                    guard places.count == pair.count / 10 else {
                        throw Flaw("the query found too little")
                    }
                }
            }
        )
    }

    @concurrent
    private static func followed(
        _ pair: StorePair,
        changes: Int,
        _ keepsSnapshot: Bool
    ) async throws -> Double {
        let (arrivals, arrived) = AsyncStream<ContinuousClock.Instant>.makeStream()
        let listener = Task { @concurrent in
            defer { arrived.finish() }
            var latest: CollectionSnapshot<Place>?
            var count = 0
            let snapshots = pair.places.listen {
                $0.where(.equal("district", .string(Place.district(3))))
                    .order(by: "score", .descending)
            }
            for try await snapshot in snapshots {
                arrived.yield(.now)
                count = snapshot.items.count
                if keepsSnapshot { latest = snapshot }
            }
            return latest?.items.count ?? count
        }
        var next = arrivals.makeAsyncIterator()
        guard await next.next() != nil else { throw Flaw("the listener ended") }
        var figures: [Double] = []
        for _ in 0..<changes {
            var place = Place(Int.random(in: 0..<pair.count / 10) * 10 + 3)
            place.score = Int.random(in: 0..<1_000_000)
            // A single change: the reader has released the previous snapshots.
            try await Task.sleep(for: .milliseconds(5))
            let start = ContinuousClock.now
            try await pair.client.setDocument(DocumentPath("places", place.id), place)
            guard let arrival = await next.next() else { throw Flaw("the listener ended") }
            figures.append(start.duration(to: arrival).microseconds)
        }
        listener.cancel()
        guard try await listener.value == pair.count / 10 else { throw Flaw("the result is wrong") }
        return figures.median
    }

    // MARK: Many listeners

    /// Measures the processor time of one change with 1,000 listened documents, including the write.
    static func listeners(
        _ pair: Lazily<StorePair>,
        _ options: Options,
        byNumber: Bool
    ) -> Measure {
        let count = options.scaled(1_000)
        let changes = options.isQuick ? 1 : 10
        return Measure(
            name: "1,000 listeners, one change, CPU / \(byNumber ? "by rowid" : "observations")",
            target: byNumber ? .info : .atLeast(20),
            keel: { try await listened(try await pair.value(), count, changes: changes) },
            peer: {
                try await observed(
                    try await pair.value(),
                    count,
                    changes: changes,
                    byNumber: byNumber
                )
            }
        )
    }

    /// A pause in which both sides become idle after a change.
    private static let rest = Duration.milliseconds(150)

    @concurrent
    private static func listened(_ pair: StorePair, _ count: Int, changes: Int) async throws
        -> Double
    {
        let (deliveries, delivered) = AsyncStream<String>.makeStream()
        let listeners = (0..<count).map { number in
            Task { @concurrent in
                let path = DocumentPath("places", Place.id(number))
                for try await snapshot in pair.client.listenToDocument(path) {
                    delivered.yield(snapshot.path.id)
                }
            }
        }
        defer { for listener in listeners { listener.cancel() } }
        return try await processorTime(of: changes, of: count, deliveries) { place in
            try await pair.client.setDocument(DocumentPath("places", place.id), place)
        }
    }

    @concurrent
    private static func observed(
        _ pair: StorePair,
        _ count: Int,
        changes: Int,
        byNumber: Bool
    ) async throws -> Double {
        let observations = PeerObservations()
        let ids = (0..<count).map(Place.id)
        if byNumber {
            let numbered = try await pair.peer.pool.read { database in
                try ids.map { id in
                    let number = try Int64.fetchOne(
                        database,
                        sql: "SELECT rowid FROM documents WHERE id = ?",
                        arguments: [id]
                    )
                    return (number: number ?? 0, id: id)
                }
            }
            observations.observe(rowIDs: numbered, in: pair.peer.pool)
        } else {
            observations.observe(textIDs: ids, in: pair.peer.pool)
        }
        defer { observations.cancel() }
        return try await processorTime(of: changes, of: count, observations.deliveries) { place in
            try writeBlocking(place, in: pair.peer)
        }
    }

    private static func writeBlocking(_ place: Place, in store: PeerStore) throws {
        try PeerSet.run(place, scoreChanges: true, in: store)
    }

    private static func processorTime(
        of changes: Int,
        of count: Int,
        _ deliveries: AsyncStream<String>,
        _ write: (Place) async throws -> Void
    ) async throws -> Double {
        var next = deliveries.makeAsyncIterator()
        for _ in 0..<count {
            guard await next.next() != nil else { throw Flaw("a listener ended") }
        }
        try await Task.sleep(for: rest)
        var total = 0.0
        for _ in 0..<changes {
            var place = Place(Int.random(in: 0..<count))
            place.score = Int.random(in: 0..<1_000_000_000)
            let start = Timing.processorTime()
            try await write(place)
            guard await next.next() == place.id else { throw Flaw("a wrong delivery") }
            try await Task.sleep(for: rest)
            total += Timing.processorTime() - start
        }
        return total / Double(changes)
    }
}

/// Returns unused numbers.
final class Numbers: Sendable {
    private let last: Mutex<Int>

    init(from first: Int) { last = Mutex(first) }

    func next(_ count: Int) -> Range<Int> {
        last.withLock { last in
            defer { last += count }
            return last..<(last + count)
        }
    }
}
