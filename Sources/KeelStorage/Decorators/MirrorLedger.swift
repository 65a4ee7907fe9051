internal import KeelDocuments
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
        /// Whether the first store's log may have changes that are not copied, whoever made them.
        var isBehind = false
        /// Whether the names of documents that wait were given up, because the log has them.
        var leavesNamesToLog = false
        /// The notes of commits that have ended, which are kept until their documents are copied.
        var notes: Set<DocumentPath> = []
        /// Whether what an earlier process left is known.
        var isOpen = false
        var wasReadBeforeOpening = false
        /// Up to where the mirror has the first store's change log.
        var cursor: ChangeCursor?
    }

    private let state = Mutex(State())

    /// The most documents that are kept by their names.
    static var mostNames: Int { 10_000 }

    /// How many documents wait or are being copied, of those whose names are kept.
    var count: Int {
        state.withLock { state in
            state.waiting.count + state.copying.count { !state.waiting.contains($0) }
        }
    }

    /// How many commits there were, if the mirror has all of them; nil while it has not.
    ///
    /// Where this is the same number before and after, nothing was written in between.
    var stillness: UInt64? {
        state.withLock { state in
            let isStill =
                state.commitsUnderWay == 0 && state.waiting.isEmpty && state.copying.isEmpty
                && !state.isBehind && !state.isCopying
            return isStill && state.isOpen ? state.commitCount : nil
        }
    }

    // MARK: Commits

    /// Notes that a commit begins: it may take effect at any moment from now on.
    func beginCommit() {
        state.withLock { state in
            state.commitsUnderWay += 1
            state.commitCount += 1
        }
    }

    /// Notes that a commit has ended, and the documents that it may have changed.
    ///
    /// - Returns: Whether documents that wait were given up, as in ``end(keeping:without:isBehind:)``.
    func endCommit(_ paths: Set<DocumentPath>, _ note: DocumentPath? = nil) -> Bool {
        state.withLock { state in
            state.commitsUnderWay -= 1
            guard !state.leavesNamesToLog else {
                state.isBehind = true
                return false
            }
            // The mirror may never answer the call that copies, or the one that opens.
            let areGivenUp = (state.isCopying || !state.isOpen) && Self.giveUp(in: &state)
            state.waiting.formUnion(paths)
            if let note { state.notes.insert(note) }
            return areGivenUp
        }
    }

    /// Gives up the names of documents that wait, if there are too many of them.
    ///
    /// - Returns: Whether no log tells of them.
    private static func giveUp(in state: inout State) -> Bool {
        guard state.waiting.count > mostNames || state.notes.count > mostNames else { return false }
        state.waiting = []
        state.notes = []
        state.leavesNamesToLog = state.cursor != nil
        state.isBehind = state.leavesNamesToLog
        return !state.leavesNamesToLog
    }

    // MARK: What an earlier process left

    var isOpen: Bool { state.withLock { $0.isOpen } }

    /// Whether a read comes first, before any commit: the mirror is then asked what an earlier process
    /// left, once.
    func isFirstRead() -> Bool {
        state.withLock { state in
            defer { state.wasReadBeforeOpening = true }
            return !state.isOpen && !state.wasReadBeforeOpening
        }
    }

    /// Where the copying of the log goes on.
    var cursor: ChangeCursor? { state.withLock { $0.cursor } }

    /// Takes where the log goes on, unless that is known.
    func begin(at cursor: ChangeCursor) {
        state.withLock { $0.cursor = $0.cursor ?? cursor }
    }

    /// Notes that what an earlier process left is known: documents that wait, and their notes.
    func open(_ paths: Set<DocumentPath> = [], _ notes: Set<DocumentPath> = []) {
        state.withLock { state in
            guard !state.isOpen else { return }
            state.isOpen = true
            state.isBehind = state.cursor != nil
            state.waiting.formUnion(paths)
            state.notes.formUnion(notes)
        }
    }

    /// Notes up to where the log has been copied.
    func move(to cursor: ChangeCursor) { state.withLock { $0.cursor = cursor } }

    // MARK: Copying

    /// Takes documents to copy, or returns nil if there are none or somebody else is copying.
    func begin(upTo limit: Int) -> (paths: [DocumentPath], notes: Set<DocumentPath>)? {
        state.withLock { state in
            let isDue = !state.waiting.isEmpty || !state.notes.isEmpty || state.isBehind
            guard !state.isCopying, isDue else { return nil }
            state.isCopying = true
            state.isBehind = false
            let paths = Array(state.waiting.prefix(limit))
            state.copying = Set(paths)
            state.waiting.subtract(paths)
            // Those whose documents all are among the last ones.
            return (paths, state.waiting.isEmpty ? state.notes : [])
        }
    }

    /// Ends what ``begin(upTo:)`` began; `failed` are to be copied again, `notes` are done with.
    ///
    /// While the mirror is away, no more than ``mostNames`` documents are kept by their names. Where a log
    /// tells what was changed, all of them are left to it; where none does, they are given up.
    ///
    /// - Returns: Whether documents were given up, so that the mirror lacks them.
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
