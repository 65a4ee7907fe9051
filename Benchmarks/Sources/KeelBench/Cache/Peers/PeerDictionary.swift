import Foundation
import Synchronization

/// A dictionary behind one lock, without a limit or expiration.
final class PeerDictionary<Key: Hashable & Sendable>: Sendable {
    private let entries = Mutex<[Key: Int]>([:])

    func get(_ key: Key) -> Int? { entries.withLock { $0[key] } }

    func set(_ value: Int, for key: Key) { entries.withLock { $0[key] = value } }
}

/// The same with an expiration per entry, which is checked on each read.
final class PeerTimedDictionary<Key: Hashable & Sendable>: Sendable {
    private let entries = Mutex<[Key: (value: Int, end: Date)]>([:])

    func get(_ key: Key) -> Int? {
        guard let entry = entries.withLock({ $0[key] }), entry.end > Date() else { return nil }
        return entry.value
    }

    func set(_ value: Int, for key: Key, seconds: Double) {
        entries.withLock { $0[key] = (value, Date(timeIntervalSinceNow: seconds)) }
    }
}

/// Sixteen dictionaries, each behind its own lock, chosen by the key's hash.
final class PeerShards<Key: Hashable & Sendable>: Sendable {
    private let shards = (0..<16).map { _ in PeerDictionary<Key>() }

    func get(_ key: Key) -> Int? { shards[key.hashValue & 15].get(key) }

    func set(_ value: Int, for key: Key) { shards[key.hashValue & 15].set(value, for: key) }
}

/// A dictionary in an actor.
actor PeerActor<Key: Hashable & Sendable> {
    private let entries: [Key: Int]

    init(_ entries: [Key: Int]) { self.entries = entries }

    func get(_ key: Key) -> Int? { entries[key] }
}
