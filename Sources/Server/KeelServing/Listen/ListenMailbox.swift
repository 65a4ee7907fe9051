internal import KeelStorage
internal import KeelStorageAdapting
internal import Synchronization

/// The pages of the hub that a stream has not taken yet.
final class ListenMailbox: Sendable {
    private enum Phase { case behind, attending, live }

    /// A page of the hub, and the bodies of its documents, which mailboxes share.
    private struct Parcel {
        let page: ChangePage
        let bodies: [BufferedBytes]
    }

    private struct State {
        var phase = Phase.behind
        var parcels: [Parcel] = []
        var count = 0
        /// The approximate size of their documents in bytes.
        var bytes = 0
        /// The position from which on ``parcels`` is complete; nil for the start of the reader.
        var coverage: ChangeCursor?
        /// Why the reader of the hub has failed, if the stream was live.
        var failure: StorageError?
        /// Whether ``onNews`` was called since the stream took pages.
        var knowsNews = false

        mutating func clear() {
            (parcels, count, bytes) = ([], 0, 0)
        }

        mutating func append(_ parcel: Parcel) {
            parcels.append(parcel)
            count += parcel.page.changes.count
            bytes += ListenMailbox.overhead * parcel.page.changes.count
            for body in parcel.bodies { bytes += body.bytes.count }
        }
    }

    /// The approximate maximum size of the documents that wait, in bytes.
    private static let mostBytes = 16 << 20

    /// The approximate size of a change without the document's body, in bytes.
    private static let overhead = 400

    let id: UInt64
    private let state = Mutex(State())
    /// Called when there are pages to take, or the stream has fallen behind; once until the stream takes pages.
    private let onNews: @Sendable () -> Void
    /// The bytes that wait for all streams; bodies count themselves.
    private let total: ByteCount

    /// The maximum number of changes that wait; with more, the stream reads for itself.
    private let mostChanges: Int

    init(
        id: UInt64,
        in total: ByteCount = ByteCount(),
        mostChanges: Int = 10_000,
        onNews: @escaping @Sendable () -> Void = {}
    ) {
        self.id = id
        self.total = total
        self.mostChanges = mostChanges
        self.onNews = onNews
    }

    deinit { total.add(-Self.overhead * state.withLock(\.count)) }

    var isLive: Bool { state.withLock { $0.phase == .live } }

    /// Why the stream must end; nil if it can read for itself.
    var failure: StorageError? { state.withLock(\.failure) }

    var waitingBytes: Int { state.withLock(\.bytes) }

    private func change(_ body: (inout State) -> Void) {
        let growth = state.withLock { state in
            let before = state.count
            body(&state)
            return state.count - before
        }
        if growth != 0 { total.add(Self.overhead * growth) }
    }

    var waitingPaths: [DocumentPath] {
        state.withLock { $0.parcels.flatMap { parcel in parcel.page.changes.map(\.path) } }
    }

    // MARK: Stream

    /// Returns the pages that wait, if the stream is live.
    func take() -> [ChangePage] {
        var pages: [ChangePage] = []
        change { state in
            state.knowsNews = false
            guard state.phase == .live else { return }
            pages = state.parcels.map(\.page)
            state.clear()
        }
        return pages
    }

    // MARK: Hub

    func attend(from coverage: ChangeCursor?) {
        change { state in
            state.phase = .attending
            state.coverage = coverage
            state.failure = nil
            state.knowsNews = false
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
            let parcels = state.parcels.filter { $0.page.next > position }
            state.clear()
            for parcel in parcels { state.append(parcel) }
            state.phase = .live
            hasJoined = true
        }
        return hasJoined
    }

    /// Adds a page, unless the stream is behind; returns whether it falls behind with this page.
    @discardableResult
    func push(_ page: ChangePage, _ bodies: [BufferedBytes]) -> Bool {
        var fallsBehind = false
        change { state in
            guard state.phase != .behind else { return }
            state.append(Parcel(page: page, bodies: bodies))
            guard state.count > mostChanges || state.bytes >= Self.mostBytes else { return }
            state.phase = .behind
            state.clear()
            fallsBehind = true
        }
        notify()
        return fallsBehind
    }

    func fallBehind(because error: StorageError? = nil) {
        change { state in
            if state.phase == .live { state.failure = error }
            state.phase = .behind
            state.clear()
        }
        notify()
    }

    private func notify() {
        let isNews = state.withLock { state in
            // A stream that attends takes the pages once it has joined.
            guard state.phase != .attending, !state.knowsNews else { return false }
            state.knowsNews = true
            return true
        }
        if isNews { onNews() }
    }
}
