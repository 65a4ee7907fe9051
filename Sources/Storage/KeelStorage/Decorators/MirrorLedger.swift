internal import KeelDocuments
internal import Synchronization

/// The documents whose last state is missing from a mirror.
///
/// One call at a time copies. A document that is written meanwhile is recorded again.
final class MirrorLedger: Sendable {
    private struct State {
        var commitsUnderWay = 0
        var commitCount: UInt64 = 0
        var waiting: Set<DocumentPath> = []
        var copying: Set<DocumentPath> = []
        var isCopying = false
        /// Whether the log may have changes that are not copied.
        var isBehind = false
        /// Whether names were dropped because the log has them.
        var leavesNamesToLog = false
        var notes: Set<DocumentPath> = []
        var isOpen = false
        var wasReadBeforeOpening = false
        var cursor: ChangeCursor?
    }

    private let state = Mutex(State())

    static var mostNames: Int { 10_000 }

    var count: Int {
        state.withLock { state in
            state.waiting.count + state.copying.count { !state.waiting.contains($0) }
        }
    }

    /// The number of commits if the mirror has all of them; nil otherwise.
    var stillness: UInt64? {
        state.withLock { state in
            let isStill =
                state.commitsUnderWay == 0 && state.waiting.isEmpty && state.copying.isEmpty
                && !state.isBehind && !state.isCopying
            return isStill && state.isOpen ? state.commitCount : nil
        }
    }

    // MARK: Commits

    func beginCommit() {
        state.withLock { state in
            state.commitsUnderWay += 1
            state.commitCount += 1
        }
    }

    /// Records the end of a commit; returns whether waiting documents were lost.
    func endCommit(_ paths: Set<DocumentPath>, _ note: DocumentPath? = nil) -> Bool {
        state.withLock { state in
            state.commitsUnderWay -= 1
            guard !state.leavesNamesToLog else {
                state.isBehind = true
                return false
            }
            // The mirror may never answer the call that copies or opens.
            let areGivenUp = (state.isCopying || !state.isOpen) && Self.giveUp(in: &state)
            state.waiting.formUnion(paths)
            if let note { state.notes.insert(note) }
            return areGivenUp
        }
    }

    /// Drops the names of waiting documents if there are too many; returns whether they are lost because no log has
    /// them.
    private static func giveUp(in state: inout State) -> Bool {
        guard state.waiting.count > mostNames || state.notes.count > mostNames else { return false }
        state.waiting = []
        state.notes = []
        state.leavesNamesToLog = state.cursor != nil
        state.isBehind = state.leavesNamesToLog
        return !state.leavesNamesToLog
    }

    // MARK: The state of an earlier process

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Returns whether this is the first read, and no commit has opened the ledger.
    func isFirstRead() -> Bool {
        state.withLock { state in
            defer { state.wasReadBeforeOpening = true }
            return !state.isOpen && !state.wasReadBeforeOpening
        }
    }

    var cursor: ChangeCursor? { state.withLock { $0.cursor } }

    func begin(at cursor: ChangeCursor) {
        state.withLock { $0.cursor = $0.cursor ?? cursor }
    }

    func open(_ paths: Set<DocumentPath> = [], _ notes: Set<DocumentPath> = []) {
        state.withLock { state in
            guard !state.isOpen else { return }
            state.isOpen = true
            state.isBehind = state.cursor != nil
            state.waiting.formUnion(paths)
            state.notes.formUnion(notes)
        }
    }

    func move(to cursor: ChangeCursor) { state.withLock { $0.cursor = cursor } }

    // MARK: Copying

    /// Takes documents to copy; returns nil if there are none, another call is copying, or `isAgain` and a commit is
    /// under way, which copies at its end.
    func begin(
        upTo limit: Int,
        isAgain: Bool
    ) -> (paths: [DocumentPath], notes: Set<DocumentPath>)? {
        state.withLock { state in
            let isDue = !state.waiting.isEmpty || !state.notes.isEmpty || state.isBehind
            let isLeft = isAgain && state.commitsUnderWay > 0
            guard !state.isCopying, isDue, !isLeft else { return nil }
            state.isCopying = true
            state.isBehind = false
            let paths = Array(state.waiting.prefix(limit))
            state.copying = Set(paths)
            state.waiting.subtract(paths)
            // A note may be removed only with the last waiting documents, which include all of its own.
            return (paths, state.waiting.isEmpty ? state.notes : [])
        }
    }

    func leaveLog() -> Bool {
        state.withLock { state in
            guard state.commitsUnderWay > 0 else { return false }
            state.isBehind = true
            return true
        }
    }

    /// Ends the copying that ``begin(upTo:isAgain:)`` began; `failed` documents must be retried, `notes` have been
    /// removed.
    ///
    /// - Returns: Whether documents were lost, because there were more than ``mostNames`` and there is no log.
    func end(
        keeping failed: Set<DocumentPath>,
        without notes: Set<DocumentPath>,
        isBehind: Bool
    ) -> Bool {
        state.withLock { state in
            state.isCopying = false
            state.isBehind = state.isBehind || isBehind
            state.copying = []
            state.notes.subtract(notes)
            guard !state.leavesNamesToLog else {
                state.leavesNamesToLog = state.isBehind
                return false
            }
            state.waiting.formUnion(failed)
            return !failed.isEmpty && Self.giveUp(in: &state)
        }
    }
}
