internal import KeelCore
internal import KeelStorageAdapting
internal import Synchronization

final class FeedStreams: Sendable {
    private struct State {
        var streams: [FeedStream] = []
        var isClosed = false
        var user: String?
        var userChangeCount = 0
        var epoch: String?
        var failures = 0
        var resumes = Duration.zero
        var nextID: UInt64 = 1
        /// Positions that are not consistent points, latest last, with the stream that sent each.
        ///
        /// The states sent up to such a position may be later than the position, and another stream may have read
        /// earlier ones for it. A reader must therefore continue on the same stream.
        var inner: [(cursor: ChangeCursor, stream: UInt64?)] = []
    }

    private static let mostInner = 256

    private let connection: FeedConnection
    private let timeline: Timeline
    private let state = Mutex(State())

    init(_ connection: FeedConnection, _ timeline: Timeline) {
        self.connection = connection
        self.timeline = timeline
    }

    var count: Int { state.withLock { $0.streams.count } }

    var userChangeCount: Int { state.withLock { $0.userChangeCount } }

    /// The last known user and epoch.
    var session: ChangeCursor.Session {
        state.withLock { ChangeCursor.Session(user: $0.user, epoch: $0.epoch) }
    }

    var pause: Duration? {
        state.withLock { state in
            state.resumes > timeline.now ? state.resumes - timeline.now : nil
        }
    }

    func note(epoch: String) { state.withLock { $0.epoch = epoch } }

    func note(user: String) {
        let streams = state.withLock { state in
            defer { state.user = user }
            guard let former = state.user, former != user else { return [FeedStream]() }
            state.userChangeCount += 1
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.close() }
    }

    func note(_ page: ChangePage, from stream: FeedStream?) {
        guard !page.isCaughtUp else { return }
        state.withLock { state in
            state.inner.append((page.next, stream?.id))
            if state.inner.count > Self.mostInner { state.inner.removeFirst() }
        }
    }

    func stream(for request: ChangeRequest, after cursor: ChangeCursor) -> FeedStream? {
        state.withLock { Self.stream(in: $0, for: request, after: cursor) }
    }

    private static func stream(
        in state: State,
        for request: ChangeRequest,
        after cursor: ChangeCursor
    ) -> FeedStream? {
        let origins = state.inner.filter { $0.cursor == cursor }.map(\.stream)
        return state.streams.first { stream in
            guard stream.scope == request.scope, stream.clients == request.clients,
                origins.allSatisfy({ $0 == stream.id })
            else { return false }
            if case .elsewhere = stream.answer(after: cursor, limit: request.limit) {
                return false
            }
            return true
        }
    }

    /// Opens a stream at a consistent point, if possible; returns whether there is a stream for the reader.
    func open(_ request: ChangeRequest, after cursor: ChangeCursor) -> Bool {
        let outcome = state.withLock { state -> Opening in
            // Several readers at one position may arrive here at the same time.
            let existing = Self.stream(in: state, for: request, after: cursor)
            if existing != nil { return .exists }
            return open(&state, request, after: cursor)
        }
        switch outcome {
        case .exists: return true
        case .refused: return false
        case .opened(let stream, let surplus):
            surplus?.close()
            run(stream, after: cursor)
            return true
        }
    }

    private enum Opening {
        case exists
        case refused
        case opened(FeedStream, insteadOf: FeedStream?)
    }

    private func open(
        _ state: inout State,
        _ request: ChangeRequest,
        after cursor: ChangeCursor
    ) -> Opening {
        guard !state.isClosed, timeline.now >= state.resumes else { return .refused }
        // An idle stream at this cursor served this reader with another scope.
        var surplus = state.streams.first { stream in
            guard !stream.isUsed else { return false }
            if case .nothing = stream.answer(after: cursor, limit: request.limit) { return true }
            return false
        }
        if surplus == nil, state.streams.count >= connection.configuration.mostStreams {
            // Replaces the stream that has been unused for the longest time.
            surplus = state.streams.filter { !$0.isUsed }.min { $0.lastUse < $1.lastUse }
            guard surplus != nil else { return .refused }
        }
        if let surplus { state.streams.removeAll { $0 === surplus } }
        let stream = FeedStream(
            id: state.nextID,
            for: request,
            after: cursor,
            epoch: state.epoch ?? "",
            timeline: timeline
        )
        state.nextID += 1
        // The new stream reads later states than those sent up to this cursor.
        state.inner.removeAll { $0.cursor == cursor }
        state.streams.append(stream)
        return .opened(stream, insteadOf: surplus)
    }

    private func run(_ stream: FeedStream, after cursor: ChangeCursor) {
        let table: @Sendable () -> FeedStreams? = { [weak self] in self }
        stream.run { [connection] stream in
            let end = await stream.read(from: connection, after: cursor) { table()?.isHealthy() }
            table()?.remove(stream, end)
            stream.close()
        }
    }

    func close() {
        let streams = state.withLock { state in
            state.isClosed = true
            defer { state.streams = [] }
            return state.streams
        }
        for stream in streams { stream.close() }
    }

    private func isHealthy() { state.withLock { $0.failures = 0 } }

    private func remove(_ stream: FeedStream, _ end: FeedStream.End) {
        var generator = SystemRandomNumberGenerator()
        let now = timeline.now
        state.withLock { state in
            guard let index = state.streams.firstIndex(where: { $0 === stream }) else { return }
            state.streams.remove(at: index)
            let pause: Duration
            switch end {
            case .unused: return
            case .unsupported: pause = .seconds(600)
            // Until then, readers poll.
            case .refused(let asked): pause = min(max(asked ?? .zero, .seconds(10)), .seconds(600))
            case .broken:
                state.failures += 1
                pause = connection.configuration.pauses.delay(
                    before: state.failures,
                    using: &generator
                )
            }
            state.resumes = max(state.resumes, now + pause)
        }
    }
}
