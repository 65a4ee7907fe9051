internal import Synchronization

/// The removed tags, by which a read determines whether its entry was removed.
///
/// Each removal begins an epoch. An entry carries a stamp, the epoch in which making its value began, and is dead once
/// one of its tags was removed in a later epoch.
final class TagBoard: Sendable {
    fileprivate struct State {
        var removals: [String: UInt64] = [:]
        /// Entries with tags and an older stamp are dead; their removals are not remembered.
        var floor: UInt64 = 0
    }

    /// The number of removals remembered; at that number, all entries with tags are dropped once.
    private static let capacity = 10_000

    private let latest = Atomic<UInt64>(1)
    private let state = Mutex(State())

    var epoch: UInt64 { latest.load(ordering: .acquiring) }

    /// Invalidates all current entries with a tag; `body` runs under the board's lock.
    func remove(_ tag: String, _ body: () -> Void) {
        state.withLock { state in
            body()
            let epoch = latest.load(ordering: .relaxed) + 1
            if state.removals.count >= Self.capacity {
                state.removals = [:]
                state.floor = epoch
            }
            state.removals[tag] = epoch
            latest.store(epoch, ordering: .releasing)
        }
    }

    func lives(_ tags: [String], stamp: UInt64) -> Bool {
        if tags.isEmpty || epoch == stamp { return true }
        return state.withLock { $0.lives(tags, stamp: stamp) }
    }

    /// Runs a body if an entry with these tags is alive, excluding removals meanwhile; returns whether it is alive.
    func admit(_ tags: [String], stamp: UInt64, _ body: () -> Void) -> Bool {
        if tags.isEmpty {
            body()
            return true
        }
        return state.withLock { state in
            guard state.lives(tags, stamp: stamp) else { return false }
            body()
            return true
        }
    }
}

extension TagBoard.State {
    fileprivate func lives(_ tags: [String], stamp: UInt64) -> Bool {
        stamp >= floor && !tags.contains { (removals[$0] ?? 0) > stamp }
    }
}
