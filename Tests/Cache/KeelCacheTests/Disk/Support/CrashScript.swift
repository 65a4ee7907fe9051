import KeelCache
import KeelCore
import KeelTestKit
import KeelTestSupport
import Synchronization

/// The calls of a random program to a tier, and the state allowed after each step.
struct CrashScript {
    struct Operation {
        /// The number of disk steps before and after the call.
        var firstStep: Int
        var lastStep: Int
        var effect: Effect
    }

    enum Effect {
        case set(key: String, value: [UInt8], tags: [String])
        case remove(keys: [String])
        case removeTag(String)
        case removeEverything
        case flush
        case reopen
    }

    static let keys = (0..<8).map { "key-\($0)" }
    static let tags = ["red", "green"]

    let files = SimulatedFileSystem()
    private(set) var operations: [Operation] = []
    let limit: Int
    private let isSealed: Bool
    private let random: RandomBox

    init(seed: UInt64, count: Int, limit: Int, isSealed: Bool) async throws {
        self.limit = limit
        self.isSealed = isSealed
        random = RandomBox(seed: seed)
        var draw = SeededRandom(seed: seed &+ 1)
        var tier = try open(files)
        for number in 0..<count {
            let effect = Self.effect(number, using: &draw)
            let first = files.steps.count
            if case .reopen = effect {
                if Bool.random(using: &draw) { await tier.close() }
                tier = try reopen(&tier)
            } else {
                try await Self.run(effect, on: tier)
            }
            operations.append(
                Operation(firstStep: first, lastStep: files.steps.count, effect: effect)
            )
        }
    }

    /// Opens a tier in the state that a crash left.
    func open(_ files: SimulatedFileSystem) throws -> DiskCacheTier {
        var configuration = DiskCacheTier.Configuration(byteLimit: limit)
        configuration.segmentByteCount = 4096
        configuration.fileSystem = files
        let random = random
        configuration.randomness = { random.next() }
        if isSealed { configuration.sealing = FakeByteSealing(key: 7) }
        return try DiskCacheTier(path: "/cache", configuration: configuration)
    }

    private func reopen(_ tier: inout DiskCacheTier) throws -> DiskCacheTier {
        // The lock ends with the last reference to the tier, which is this variable.
        tier = try open(SimulatedFileSystem())
        return try open(files)
    }

    private static func effect(_ number: Int, using draw: inout SeededRandom) -> Effect {
        let key = keys.randomElement(using: &draw) ?? ""
        switch Int.random(in: 0..<100, using: &draw) {
        case 0..<64:
            let isLarge = Int.random(in: 0..<8, using: &draw) == 0
            let count = isLarge ? 2000 : Int.random(in: 0...700, using: &draw)
            let tag = tags.filter { _ in Int.random(in: 0..<3, using: &draw) == 0 }
            return .set(key: key, value: bytes(count, seed: number), tags: tag)
        case 64..<76: return .remove(keys: [key])
        case 76..<80: return .removeTag(tags.randomElement(using: &draw) ?? "")
        case 80..<82: return .removeEverything
        case 82..<96: return .flush
        default: return .reopen
        }
    }

    static func run(_ effect: Effect, on tier: DiskCacheTier) async throws {
        switch effect {
        case .set(let key, let value, let tags): try await tier.set(key, value, tags: tags)
        case .remove(let keys): try await tier.remove(.keys(keys.map { Array($0.utf8) }))
        case .removeTag(let tag): try await tier.remove(.tag(tag))
        case .removeEverything: try await tier.remove(.everything)
        case .flush: try await tier.flush()
        case .reopen: break
        }
    }
}

/// A random number generator shared by several tasks.
final class RandomBox: Sendable {
    private let generator: Mutex<SeededRandom>

    init(seed: UInt64) { generator = Mutex(SeededRandom(seed: seed)) }

    func next() -> UInt64 { generator.withLock { $0.next() } }
}

/// A model of the tier's contents.
struct KeyModel {
    private(set) var values: [String: [UInt8]] = [:]
    private var tags: [String: [String]] = [:]
    /// All values of each key since the last removal that a flush made durable.
    private(set) var history: [String: [[UInt8]]] = [:]
    /// All values that each key ever had.
    private(set) var everSet: [String: [[UInt8]]] = [:]
    /// The values set since the last removal, while no flush has made the removal durable.
    private var pending: [String: [[UInt8]]] = [:]

    mutating func apply(_ effect: CrashScript.Effect) {
        switch effect {
        case .set(let key, let value, let newTags):
            values[key] = value
            tags[key] = newTags
            history[key, default: []].append(value)
            everSet[key, default: []].append(value)
            pending[key]?.append(value)
        case .remove(let keys):
            for key in keys { remove(key) }
        case .removeTag(let tag):
            for key in values.keys where tags[key]?.contains(tag) == true { remove(key) }
        case .removeEverything:
            for key in CrashScript.keys { remove(key) }
        case .flush:
            for (key, values) in pending { history[key] = values }
            pending = [:]
        case .reopen: break
        }
    }

    private mutating func remove(_ key: String) {
        values[key] = nil
        pending[key] = []
    }
}
