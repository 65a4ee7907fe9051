internal import Synchronization

/// Keys that lists of buckets left out because they are not valid file paths.
final class UnlistedKeys: Sendable {
    static let capacity = 100

    private let found = Mutex<(keys: Set<String>, hasMore: Bool)>(([], false))

    /// The first keys, sorted, and whether there were more.
    var all: (keys: [String], hasMore: Bool) {
        found.withLock { ($0.keys.sorted(), $0.hasMore) }
    }

    func add(_ key: String) {
        found.withLock { found in
            guard !found.keys.contains(key) else { return }
            guard found.keys.count < Self.capacity else {
                found.hasMore = true
                return
            }
            found.keys.insert(key)
        }
    }
}
