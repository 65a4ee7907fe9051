import Foundation
import KeelRepositories
import KeelStorage
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// Held reads, writes, invalidations and changes by other processes, in an order drawn from a seed.
@Suite("Repository memory, simulated", .timeLimit(.minutes(5)))
struct MemorySimulationTests {
    /// The values that readers may expect: versions only grow.
    private final class Model: Sendable {
        private let acknowledged = Mutex<[String: Int]>([:])
        private let last = Counter()
        let failures = Mutex<[String]>([])
        /// The number of running reads that may ask the service.
        let asking = Mutex(0)

        func next() -> Int { last.next() }

        func acknowledge(_ id: String, _ version: Int) {
            acknowledged.withLock { $0[id] = max($0[id] ?? 0, version) }
        }

        var bounds: [String: Int] { acknowledged.withLock { $0 } }

        func check(_ places: [Place], _ bounds: [String: Int], _ what: String) {
            for place in places {
                let bound = bounds[place.id] ?? 0
                guard place.version < bound else { continue }
                failures.withLock {
                    $0.append("\(what) gave version \(place.version) of \(place.id), not \(bound)")
                }
            }
        }
    }

    private static let ids = ["1", "2", "3"]

    @Test(
        "A read never returns a value older than a previously acknowledged write",
        arguments: 1...40
    )
    func simulates(seed: UInt64) async throws {
        var random = SeededRandom(seed: seed)
        let world = PlaceWorld()
        let model = Model()
        for id in Self.ids {
            let version = model.next()
            world.service.set(id, version)
            model.acknowledge(id, version)
        }
        _ = try await world.places.all()
        var holds: [Hold] = []
        var tasks: [Task<Void, any Error>] = []
        var unseen: [(id: String, version: Int, position: ChangeCursor?)] = []
        for step in 0..<120 {
            let id = Self.ids.randomElement(using: &random) ?? "1"
            switch Int.random(in: 0..<12, using: &random) {
            case 0...4:
                let hold = Bool.random(using: &random) ? Hold() : nil
                let kind = Int.random(in: 0..<6, using: &random)
                if kind == 0 { model.asking.withLock { $0 += 1 } }
                if let hold { holds.append(hold) }
                tasks.append(read(world, model, kind, id, hold, "seed \(seed), step \(step)"))
                // Until it is held back, or has waited for others for a while.
                for _ in 0..<50 where hold?.gate.begunCount != 1 { await Task.yield() }
            case 5, 6:
                if let hold = holds.randomElement(using: &random) { hold.gate.open() }
            case 7, 8:
                let version = model.next()
                try await world.places.save(Place(id: id, version: version))
                model.acknowledge(id, version)
            case 9:
                // If two processes load one value at once, the slower one may cache the older
                // answer: that is decided in the store, not in memory.
                guard model.asking.withLock({ $0 == 0 }) else { continue }
                let version = model.next()
                world.service.set(id, version)
                unseen.append((id, version, try await world.put(id, version)))
            case 10:
                for change in unseen {
                    try await world.settle(change.position)
                    model.acknowledge(change.id, change.version)
                }
                unseen = []
            default:
                if Bool.random(using: &random) {
                    try await world.places.invalidate()
                } else {
                    await world.memory?.removeAll()
                }
            }
        }
        for hold in holds { hold.gate.open() }
        for task in tasks { try await task.value }
        for change in unseen { try await world.settle(change.position) }
        #expect(model.failures.withLock { $0 } == [])

        // Once everything has finished, memory and store agree.
        let stored = try await world.storage.collection("places", as: PlaceDTO.self).findAll()
        for _ in 0..<2 {
            let all = try await world.places.all(.cacheOnly)
            #expect(all.map(\.version) == stored.map(\.version), "seed \(seed)")
            for place in stored {
                let version = try await world.places.entity(place.id, .cacheOnly).version
                #expect(version == place.version, "seed \(seed)")
            }
        }
        #expect(try #require(world.memory).hits > 0)
    }

    /// Starts a read, and notes the version that it may not fall behind.
    private func read(
        _ world: PlaceWorld,
        _ model: Model,
        _ kind: Int,
        _ id: String,
        _ hold: Hold?,
        _ what: String
    ) -> Task<Void, any Error> {
        Task {
            defer { if kind == 0 { model.asking.withLock { $0 -= 1 } } }
            let bounds = model.bounds
            try await Hold.$current.withValue(hold) {
                switch kind {
                case 0:
                    let place = try await world.places.entity(id, .cacheFirst())
                    model.check([place], bounds, "\(what), cacheFirst")
                case 1, 2:
                    let all = try await world.places.all(.cacheOnly)
                    model.check(all, bounds, "\(what), all")
                default:
                    let place = try await world.places.entity(id, .cacheOnly)
                    model.check([place], bounds, "\(what), entity")
                }
            }
        }
    }
}
