internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The pages of the hub that a stream has not taken yet.
final class ListenMailbox: Sendable {
    private enum Phase { case behind, attending, live }

    private struct State {
        var phase = Phase.behind
        var pages: [ChangePage] = []
        var count = 0
        /// The approximate size of their documents in bytes.
        var bytes = 0
        /// The position from which on ``pages`` has what concerns the stream; nil: from the start of the reader.
        var coverage: ChangeCursor?

        mutating func clear() {
            (pages, count, bytes) = ([], 0, 0)
        }

        mutating func append(_ page: ChangePage) {
            pages.append(page)
            count += page.changes.count
            for change in page.changes {
                guard case .current(let document) = change else { continue }
                bytes += ListenMailbox.overhead + document.body.bytes.count
            }
        }
    }

    /// The approximate maximum size of their documents in bytes.
    private static let mostBytes = 16 << 20

    /// The approximate size of a document without its body, in bytes.
    private static let overhead = 400

    let id: UInt64
    private let state = Mutex(State())
    private let changed = Signal()
    /// The bytes that wait for all streams.
    private let total: ByteCount

    /// The maximum number of changes that wait; with more, the stream reads for itself.
    private let mostChanges: Int

    init(id: UInt64, in total: ByteCount = ByteCount(), mostChanges: Int = 10_000) {
        self.id = id
        self.total = total
        self.mostChanges = mostChanges
    }

    deinit { total.add(-waitingBytes) }

    var isLive: Bool { state.withLock { $0.phase == .live } }

    /// The approximate size of the documents that wait, in bytes.
    var waitingBytes: Int { state.withLock(\.bytes) }

    /// Changes the state, and the bytes that wait for all streams.
    private func change(_ body: (inout State) -> Void) {
        let growth = state.withLock { state in
            let before = state.bytes
            body(&state)
            return state.bytes - before
        }
        if growth != 0 { total.add(growth) }
    }

    /// The documents of the pages that wait.
    var waitingPaths: [DocumentPath] {
        state.withLock { $0.pages.flatMap { page in page.changes.map(\.path) } }
    }

    // MARK: Stream

    /// Waits until there are pages, the stream has fallen behind, or the task is canceled.
    func wait() async {
        while !Task.isCancelled {
            let generation = changed.generation
            guard state.withLock({ $0.phase == .live && $0.pages.isEmpty }) else { return }
            await changed.wait(since: generation)
        }
    }

    /// Returns the pages that wait, if the stream is live.
    func take() -> [ChangePage] {
        var pages: [ChangePage] = []
        change { state in
            guard state.phase == .live else { return }
            pages = state.pages
            state.clear()
        }
        return pages
    }

    // MARK: Hub

    func attend(from coverage: ChangeCursor?) {
        change { state in
            state.phase = .attending
            state.coverage = coverage
            state.clear()
        }
    }

    /// Discards the pages that were collected for a stream that reads for itself.
    func restart(from coverage: ChangeCursor?) {
        change { state in
            guard state.phase == .attending else { return }
            state.coverage = coverage
            state.clear()
        }
    }

    func join(at position: ChangeCursor, start: ChangeCursor) -> Bool {
        var hasJoined = false
        change { state in
            guard state.phase == .attending, (state.coverage ?? start) <= position else { return }
            let pages = state.pages.filter { $0.next > position }
            state.clear()
            for page in pages { state.append(page) }
            state.phase = .live
            hasJoined = true
        }
        return hasJoined
    }

    func push(_ page: ChangePage) {
        change { state in
            guard state.phase != .behind else { return }
            state.append(page)
            guard state.count > mostChanges || state.bytes >= Self.mostBytes else { return }
            state.phase = .behind
            state.clear()
        }
        changed.raise()
    }

    func fallBehind() {
        change { state in
            state.phase = .behind
            state.clear()
        }
        changed.raise()
    }
}
