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

    /// Measures a set and a bulk set; the peer writes into the tables of another Keel store, which is closed.
    static func writesOfSameTables(
        _ pair: Lazily<StorePair>,
        _ closed: Lazily<StorePair>,
        _ options: Options
    ) -> [Measure] {
        let tables = Lazily {
            let pair = try await closed.value()
            try pair.close()
            return (pair, try PeerSameTables(pair.keelFile.path))
        }
        return [
            Measure(
                name: "the same set / SQL into the same tables",
                target: .atMost(1.3),
                keel: { try await keelSets(pair, options, scoreChanges: true) },
                peer: {
                    let (pair, tables) = try await tables.value()
                    let places = changed(pair, options, scoreChanges: true)
                    return try Timing.perCall(places.count) { try tables.set(places[$0]) }
                }
            ),
            bulk("the same bulk set / SQL into the same tables", .atMost(1.3), pair, options) {
                try await tables.value().1.insert($0)
            },
        ]
    }

    /// Measures the cost of a history; the peer is a Keel store without one.
    static func history(
        _ keeping: Lazily<StorePair>,
        _ forgetting: Lazily<StorePair>,
        _ options: Options
    ) -> Measure {
        Measure(
            name: "set, with a history / without one",
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
        bulk("bulk set of 10,000, per document", .atMost(1.6), pair, options) {
            try PeerBulkSet.run($0, in: try await pair.value().peer)
        }
    }

    private static func bulk(
        _ name: String,
        _ target: Target,
        _ pair: Lazily<StorePair>,
        _ options: Options,
        peer: @escaping @Sendable ([Place]) async throws -> Void
    ) -> Measure {
        let numbers = Numbers(from: 10_000_000)
        let count = options.scaled(10_000)
        return Measure(
            name: name,
            target: target,
            keel: {
                let pair = try await pair.value()
                let places = numbers.next(count).map(Place.init)
                let start = ContinuousClock.now
                try await pair.places.saveAll(places)
                return start.duration(to: .now).microseconds / Double(count)
            },
            peer: {
                let places = numbers.next(count).map(Place.init)
                let start = ContinuousClock.now
                try await peer(places)
                return start.duration(to: .now).microseconds / Double(count)
            }
        )
    }

    /// Measures adding elements to an array, per element, in arrays of two lengths.
    static func arrayUnion(_ pair: Lazily<StorePair>, _ options: Options) -> Measure {
        let (long, short) = (options.scaled(10_000), options.scaled(1_000))
        return Measure(
            name: "array union per element, 10,000 / 1,000 elements",
            target: .atMost(1.3),
            keel: { try await unions(of: long, in: pair) },
            peer: { try await unions(of: short, in: pair) }
        )
    }

    /// Returns the time per element of adding as many elements as an array has, half of which it has already.
    @concurrent
    private static func unions(of count: Int, in pair: Lazily<StorePair>) async throws -> Double {
        let client = try await pair.value().client
        let path = DocumentPath("arrays", "\(count)")
        let old = (0..<count).map { DocumentValue.integer(Int64($0)) }
        let new = (count / 2..<count / 2 + count).map { DocumentValue.integer(Int64($0)) }
        let change = FieldChange("tags", .transform(.arrayUnion(new)))
        var figures: [Double] = []
        for _ in 0..<5 {
            let fields: DocumentFields = ["tags": .array(old)]
            try await client.setDocument(path, fields)
            let start = ContinuousClock.now
            try await client.updateDocument(path, [change])
            figures.append(start.duration(to: .now).microseconds / Double(count))
        }
        return figures.median
    }
}
