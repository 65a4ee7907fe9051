internal import KeelDocuments
internal import Synchronization

/// The documents whose last state is missing from a mirror.
///
/// One call at a time copies. A document that is written while it is being copied is recorded again, so that the last
/// copy has the last state.
final class MirrorLedger: Sendable {
    private struct State {
        var commitsUnderWay = 0
        var commitCount: UInt64 = 0
        var waiting: Set<DocumentPath> = []
        var copying: Set<DocumentPath> = []
        var isCopying = false
        /// Whether the first store's log may have changes that are not copied, by any writer.
        var isBehind = false
        /// Whether the names of waiting documents were dropped because the log has them.
        var leavesNamesToLog = false
        /// The notes of finished commits, kept until their documents are copied.
        var notes: Set<DocumentPath> = []
        /// Whether the state left by an earlier process is known.
        var isOpen = false
        var wasReadBeforeOpening = false
        /// The position in the first store's change log up to which the mirror has been copied.
        var cursor: ChangeCursor?
    }

    private let state = Mutex(State())

    /// The largest number of documents that are kept by name.
    static var mostNames: Int { 10_000 }

    /// The number of named documents that wait or are being copied.
    var count: Int {
        state.withLock { state in
            state.waiting.count + state.copying.count { !state.waiting.contains($0) }
        }
    }

    /// The number of commits so far if the mirror has all of them; nil otherwise.
    ///
    /// An equal number before and after an operation means that nothing was written in between.
    var stillness: UInt64? {
        state.withLock { state in
            let isStill =
                state.commitsUnderWay == 0 && state.waiting.isEmpty && state.copying.isEmpty
                && !state.isBehind && !state.isCopying
            return isStill && state.isOpen ? state.commitCount : nil
        }
    }

    // MARK: Commits

    /// Records the start of a commit, which may take effect at any moment from now on.
    func beginCommit() {
        state.withLock { state in
            state.commitsUnderWay += 1
            state.commitCount += 1
        }
    }

    /// Records the end of a commit, and the documents that it may have changed.
    ///
    /// - Returns: Whether waiting documents were lost, as in ``end(keeping:without:isBehind:)``.
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

    /// Drops the names of waiting documents if there are too many.
    ///
    /// - Returns: Whether they are lost because no log has them.
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

    /// Returns whether this is the first read and no commit has opened the ledger, so that the read must open it.
    func isFirstRead() -> Bool {
        state.withLock { state in
            defer { state.wasReadBeforeOpening = true }
            return !state.isOpen && !state.wasReadBeforeOpening
        }
    }

    /// The position at which copying the log continues.
    var cursor: ChangeCursor? { state.withLock { $0.cursor } }

    /// Sets the position of the log unless it is known.
    func begin(at cursor: ChangeCursor) {
        state.withLock { $0.cursor = $0.cursor ?? cursor }
    }

    /// Records the state of an earlier process: its waiting documents and their notes.
    func open(_ paths: Set<DocumentPath> = [], _ notes: Set<DocumentPath> = []) {
        state.withLock { state in
            guard !state.isOpen else { return }
            state.isOpen = true
            state.isBehind = state.cursor != nil
            state.waiting.formUnion(paths)
            state.notes.formUnion(notes)
        }
    }

    /// Moves the position up to which the log has been copied.
    func move(to cursor: ChangeCursor) { state.withLock { $0.cursor = cursor } }

    // MARK: Copying

    /// Takes documents to copy; returns nil if there are none or another call is copying.
    ///
    /// A call that has copied already (`isAgain`) leaves the rest to a commit under way, which copies at its end:
    /// otherwise, it would go on for as long as others write.
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

    /// Leaves the rest of the log to a commit under way, which copies at its end; returns false if there is none.
    func leaveLog() -> Bool {
        state.withLock { state in
            guard state.commitsUnderWay > 0 else { return false }
            state.isBehind = true
            return true
        }
    }

    /// Ends the copying that ``begin(upTo:isAgain:)`` began; `failed` documents must be retried, `notes` have been removed.
    ///
    /// While the mirror is unavailable, at most ``mostNames`` documents are kept by name. Beyond that, all names are
    /// dropped: the log has the documents, or they are lost if there is no log.
    ///
    /// - Returns: Whether documents were lost, so that the mirror lacks them.
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
