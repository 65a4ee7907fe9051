internal import Synchronization

/// Keeps which documents a mirror has not got in their last state.
///
/// One call at a time copies. A document that is written to while it is being copied is noted again,
/// so that the last copy is of the last state.
final class MirrorLedger: Sendable {
    private struct State {
        var commitsUnderWay = 0
        var commitCount: UInt64 = 0
        var waiting: Set<DocumentPath> = []
        var copying: Set<DocumentPath> = []
        var isCopying = false
    }

    private let state = Mutex(State())

    /// How many documents wait or are being copied.
    var count: Int { state.withLock { $0.waiting.union($0.copying).count } }

    /// How many commits there were, if the mirror has all of them; nil while it has not.
    ///
    /// Where this is the same number before and after, nothing was written in between.
    var stillness: UInt64? {
        state.withLock { state in
            let isStill =
                state.commitsUnderWay == 0 && state.waiting.isEmpty && state.copying.isEmpty
            return isStill ? state.commitCount : nil
        }
    }

    /// Notes that a commit begins: it may take effect at any moment from now on.
    func beginCommit() {
        state.withLock { state in
            state.commitsUnderWay += 1
            state.commitCount += 1
        }
    }

    /// Notes that a commit has ended, and the documents that it may have changed.
    func endCommit(_ paths: Set<DocumentPath>) {
        state.withLock { state in
            state.commitsUnderWay -= 1
            state.waiting.formUnion(paths)
        }
    }

    /// Takes documents to copy, or returns nil if there are none or somebody else is copying.
    func begin(upTo limit: Int) -> [DocumentPath]? {
        state.withLock { state in
            guard !state.isCopying, !state.waiting.isEmpty else { return nil }
            state.isCopying = true
            let paths = Array(state.waiting.prefix(limit))
            state.copying = Set(paths)
            state.waiting.subtract(paths)
            return paths
        }
    }

    /// Ends what ``begin(upTo:)`` began; `failed` are to be copied again.
    func end(keeping failed: Set<DocumentPath>) {
        state.withLock { state in
            state.isCopying = false
            state.copying = []
            state.waiting.formUnion(failed)
        }
    }
}
