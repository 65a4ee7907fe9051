#if SQLite
internal import Foundation
internal import Synchronization

/// Decides when a commit empties the write-ahead log.
///
/// SQLite restarts the log only when a commit finds all of it in the file and no reader in it, which overlapping
/// readers prevent.
final class LogPace: Sendable {
    private struct State {
        var commitCount = 0
        var limit: Int
    }

    private static let interval = 64

    private let file: String
    private let limit: Int
    private let state: Mutex<State>

    init(of path: String, limit: Int) {
        file = path + "-wal"
        self.limit = limit
        state = Mutex(State(limit: limit))
    }

    func isDue() -> Bool {
        let limit = state.withLock { state -> Int? in
            state.commitCount += 1
            return state.commitCount.isMultiple(of: Self.interval) ? state.limit : nil
        }
        guard let limit else { return false }
        return size > limit
    }

    /// Records an attempt to empty the log.
    ///
    /// A reader that prevented it may read for long, as a backup does, so the next attempt is at twice the size.
    func tried(isEmpty: Bool) {
        let limit = isEmpty ? limit : size * 2
        state.withLock { $0.limit = limit }
    }

    private var size: Int {
        let attributes = try? FileManager.default.attributesOfItem(atPath: file)
        return (attributes?[.size] as? NSNumber)?.intValue ?? 0
    }
}
#endif
