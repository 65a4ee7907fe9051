internal import Synchronization

/// Keeps which documents a mirror has not got in their last state.
///
/// One call at a time copies. A document that is written to while it is being copied is noted again,
/// so that the last copy is of the last state.
final class MirrorLedger: Sendable {
    private struct State {
        var waiting: Set<DocumentPath> = []
        var copying: Set<DocumentPath> = []
        var isCopying = false
    }

    private let state = Mutex(State())

    /// How many documents wait or are being copied.
    var count: Int { state.withLock { $0.waiting.union($0.copying).count } }

    /// Whether the mirror has everything.
    var isIdle: Bool { count == 0 }

    /// Notes documents that may have changed.
    func note(_ paths: Set<DocumentPath>) { state.withLock { $0.waiting.formUnion(paths) } }

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
