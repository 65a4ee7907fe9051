import Foundation
import KeelStorage
import KeelStorageSQLite

extension StorageGroup {
    static func set(
        _ name: String,
        _ pair: Lazily<StorePair>,
        _ target: Target,
        _ options: Options,
        scoreChanges: Bool
    ) -> Measure {
        Measure(
            name: name,
            unit: "µs",
            target: target,
            keel: { try await keelSets(pair, options, scoreChanges: scoreChanges) },
            peer: {
                let pair = try await pair.value()
                let places = changed(pair, options, scoreChanges: scoreChanges)
                return try Timing.perCall(places.count) { number in
                    try PeerSet.run(places[number], scoreChanges: scoreChanges, in: pair.peer)
                }
            }
        )
    }

    /// Measures the cost of a history; the peer is a Keel store without one.
    static func history(
        _ keeping: Lazily<StorePair>,
        _ forgetting: Lazily<StorePair>,
        _ options: Options
    ) -> Measure {
        Measure(
            name: "set, with a history / without one",
            unit: "µs",
            target: .info,
            keel: { try await keelSets(keeping, options, scoreChanges: true) },
            peer: { try await keelSets(forgetting, options, scoreChanges: true) }
        )
    }

    @concurrent
    private static func keelSets(
        _ pair: Lazily<StorePair>,
        _ options: Options,
        scoreChanges: Bool
    ) async throws -> Double {
        let pair = try await pair.value()
        let places = changed(pair, options, scoreChanges: scoreChanges)
        let paths = places.map { DocumentPath("places", $0.id) }
        return try await Timing.perCall(places.count) { number in
            try await pair.client.setDocument(paths[number], places[number])
        }
    }

    /// Always a different change, because a write without effect costs Keel little.
    private static func changed(
        _ pair: StorePair,
        _ options: Options,
        scoreChanges: Bool
    ) -> [Place] {
        var generator = SystemRandomNumberGenerator()
        return (0..<options.scaled(2_000)).map { _ in
            let number = Int.random(in: 0..<pair.count, using: &generator)
            let change = Int.random(in: 0..<1_000_000_000, using: &generator)
            var place = Place(number)
            if scoreChanges { place.score = change }
            place.note = "visited \(change) times, " + place.note.dropFirst(30)
            return place
        }
    }

    static func bulk(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        let numbers = Numbers(from: 10_000_000)
        let count = options.scaled(10_000)
        return Measure(
            name: "bulk set of 10,000, per document",
            unit: "µs",
            target: .atMost(1.6),
            keel: {
                let pair = try await pair.value()
                let places = numbers.next(count).map(Place.init)
                let start = ContinuousClock.now
                try await pair.places.saveAll(places)
                return start.duration(to: .now).microseconds / Double(count)
            },
            peer: {
                let pair = try await pair.value()
                let places = numbers.next(count).map(Place.init)
                let start = ContinuousClock.now
                try PeerBulkSet.run(places, in: pair.peer)
                return start.duration(to: .now).microseconds / Double(count)
            }
        )
    }
}
