internal import Synchronization

/// Remembers which tags were removed, so that each read can tell whether its entry was meant.
///
/// A removal takes the same time however many entries it concerns, and reads of entries without tags
/// pay nothing. Each removal begins an epoch; an entry carries the epoch in which its value began
/// to be made, its stamp, and is dead once one of its tags was removed in a later one.
final class TagBoard: Sendable {
    fileprivate struct State {
        var removals: [String: UInt64] = [:]
        /// Entries with tags and an older stamp are dead: their removals are not remembered.
        var floor: UInt64 = 0
    }

    /// How many removals are remembered; beyond it all entries with tags are given up once.
    private static let capacity = 10_000

    private let latest = Atomic<UInt64>(1)
    private let state = Mutex(State())

    /// The stamp of a value that begins to be made now.
    var epoch: UInt64 { latest.load(ordering: .acquiring) }

    /// Kills all entries that have a tag now.
    ///
    /// - Parameters:
    ///   - tag: The tag.
    ///   - body: Runs under the board's lock, in the order in which removals and
    ///     ``admit(_:stamp:_:)`` come.
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

    /// Whether an entry with these tags lives.
    func lives(_ tags: [String], stamp: UInt64) -> Bool {
        if tags.isEmpty || epoch == stamp { return true }
        return state.withLock { $0.lives(tags, stamp: stamp) }
    }

    /// Runs a body if an entry with these tags lives, with no removal in between.
    ///
    /// - Returns: Whether it lives.
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
