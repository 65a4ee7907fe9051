internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import KeelStorage
internal import KeelStorageFirestore
internal import Synchronization

/// A stream of Firestore's Listen or Write method over separate HTTP requests.
///
/// The client receives messages in the responses to requests that wait for them, and sends its own in others. A session
/// ends with its stream, when it holds too much, or when no request has waited for a minute or a little longer.
final class WebChannelSession: Sendable {
    /// The interval at which a client that waits receives an empty message.
    ///
    /// The SDKs replace a connection without a byte for one and a half times this interval.
    static let heartbeat = Duration.seconds(30)

    /// The maximum number of messages of the client that wait for the stream; with more, the session ends.
    private static let mostRequests = 10_000

    let id: String
    /// The principal that opened the session; nil for an anonymous caller.
    let principal: StoragePrincipal?
    let caller: CallerID?
    /// The `Authorization` of the session's requests that have none of their own.
    private let authorization: String?
    private let state = Mutex(WebChannelState())
    private let total: ByteCount
    /// Raised when messages are added or acknowledged, and when responses start or end.
    private let changed = Signal()
    /// The watch for the next heartbeat, while the stream runs.
    private let nextBeat = Mutex<DeadlineEntry?>(nil)
    private let (requests, request) = AsyncStream.makeStream(
        of: WebChannelState.Request.self,
        bufferingPolicy: .bufferingOldest(WebChannelSession.mostRequests)
    )

    init(
        id: String,
        in total: ByteCount = ByteCount(),
        principal: StoragePrincipal? = nil,
        caller: CallerID? = nil,
        authorization: String? = nil
    ) {
        self.id = id
        self.total = total
        self.principal = principal
        self.caller = caller
        self.authorization = authorization
    }

    deinit { total.add(-state.withLock(\.countedBytes)) }

    var heldBytes: Int { state.withLock(\.heldBytes) }

    func signed(_ head: HTTPRequest) -> HTTPRequest {
        guard let authorization, head.headerFields[.authorization] == nil else { return head }
        var head = head
        head.headerFields[.authorization] = authorization
        return head
    }

    private func count() {
        let change = state.withLock { state in
            defer { state.countedBytes = state.heldBytes }
            return state.heldBytes - state.countedBytes
        }
        total.add(change)
    }

    // MARK: The stream

    /// Serves the stream until it ends; `channels` are the sessions of all databases.
    func run(
        _ call: FirestoreRoute.Call,
        in database: String,
        of server: StorageServer,
        among channels: WebChannels
    ) async {
        let clock = server.configuration.clock
        let timer = DeadlineTimer.on(clock)
        nextBeat.withLock { $0 = watch(on: timer, silent: 0) }
        let requests = requests.map { request in
            self.state.withLock { $0.use(request) }
            self.count()
            return request.json
        }
        let failure = await server.stream(
            call,
            in: database,
            by: caller,
            joinsCurrent: true,
            requests
        ) { message in
            try await self.send(message)
            channels.makeRoom(upTo: server.configuration.maximumBacklogBytes)
        }
        nextBeat.withLock { beat in
            if let beat = beat.take() { timer.end(beat) }
        }
        state.withLock { state in
            if let failure { state.append(failure.webChannelMessage) }
            state.append(Array(#"["close"]"#.utf8))
            state.end()
        }
        changed.raise()
        // The client may fetch the last messages for a while.
        await changed.wait(upTo: Self.heartbeat, on: clock) { !self.state.withLock(\.isWaiting) }
    }

    /// Sends a message, once the client has acknowledged enough of the earlier ones.
    private func send(_ message: FirestoreJSON) async throws {
        var json: [UInt8] = [UInt8(ascii: "[")]
        message.append(to: &json)
        json.append(UInt8(ascii: "]"))
        while true {
            let generation = changed.generation
            let isSent = try state.withLock { state in
                guard !state.isGivenUp else { throw CancellationError() }
                guard !state.isFull else { return false }
                state.append(json)
                return true
            }
            count()
            if isSent { return changed.raise() }
            await changed.wait(since: generation)
            try Task.checkCancellation()
        }
    }

    /// Ends the stream of a client that is gone.
    private func giveUp() {
        state.withLock { $0.isGivenUp = true }
        request.finish()
        changed.raise()
    }

    /// Ends the session of a client that is far behind, or has left, and drops its messages.
    ///
    /// At its next request, the client opens a new session and resumes. Batches of writes behind the batch in progress
    /// have no effect, because clients send them again.
    func cutOff() {
        state.withLock { $0.abandon() }
        count()
        request.finish()
        changed.raise()
    }

    /// Looks after an interval whether a client waits.
    private func watch(on timer: DeadlineTimer, silent: Int) -> DeadlineEntry {
        timer.watch(until: timer.now + Self.heartbeat) { [weak self] in
            self?.look(on: timer, silent: silent)
        }
    }

    /// Sends an empty message to a waiting client; ends the session if no request has waited in two intervals.
    private func look(on timer: DeadlineTimer, silent: Int) {
        let isPresent = state.withLock { state in
            if state.response != 0, !state.isFull { state.append(Array(#"["noop"]"#.utf8)) }
            return state.takePresence()
        }
        let silent = isPresent ? 0 : silent + 1
        let isOver = nextBeat.withLock { beat in
            guard beat != nil else { return true }
            if silent < 2 { beat = watch(on: timer, silent: silent) }
            return false
        }
        guard !isOver else { return }
        if silent < 2 { changed.raise() } else { giveUp() }
    }

    // MARK: The client's requests

    /// Takes messages of the client, and forgets those that it has received.
    ///
    /// - Returns: The body of the response; nil if too many messages are missing, or wait for the stream.
    func take(
        _ messages: [WebChannelState.Request],
        from first: Int,
        acknowledging number: Int
    ) -> [UInt8]? {
        let status = state.withLock { state -> [UInt8]? in
            state.acknowledge(number)
            guard let ready = state.receive(messages, from: first) else { return nil }
            // Under the lock: of two requests at the same time, the messages of the later one could come first.
            for message in ready {
                if case .dropped = request.yield(message) { return nil }
            }
            return state.status
        }
        count()
        guard let status else {
            request.finish()
            return nil
        }
        changed.raise()
        return status
    }

    func messages(after number: Int, isBuffered: Bool) -> HTTPByteStream {
        let response = WebChannelResponse(
            session: self,
            number: state.withLock { $0.respond(after: number, isBuffered: isBuffered) }
        )
        count()
        changed.raise()
        return HTTPByteStream { () async throws(TransportError) in try await response.next() }
    }

    fileprivate func next(of response: Int) async throws(TransportError) -> ArraySlice<UInt8>? {
        while true {
            let generation = changed.generation
            switch state.withLock({ $0.step(of: response) }) {
            case .send(let bytes):
                changed.raise()
                return bytes[...]
            case .end: return nil
            case .wait: await changed.wait(since: generation)
            }
            guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .readBody) }
        }
    }

    fileprivate func endResponse(_ number: Int) {
        state.withLock { $0.endResponse(number) }
        changed.raise()
    }
}

/// A response to a request that waits for messages; released when it has ended, or the client is gone.
private final class WebChannelResponse: Sendable {
    private let session: WebChannelSession
    private let number: Int

    init(session: WebChannelSession, number: Int) {
        self.session = session
        self.number = number
    }

    deinit { session.endResponse(number) }

    func next() async throws(TransportError) -> ArraySlice<UInt8>? {
        try await session.next(of: number)
    }
}

extension StreamFailure {
    /// The failure as the SDKs expect it in a message of a WebChannel.
    fileprivate var webChannelMessage: [UInt8] {
        let error: FirestoreJSON = [
            "code": .integer(Int64(status.httpStatus)), "message": .string(message),
            "status": .string(status.name),
        ]
        return FirestoreJSON.array([["error": error]]).bytes
    }
}

extension Signal {
    /// Waits until a condition holds, for at most `limit`.
    fileprivate func wait(
        upTo limit: Duration,
        on clock: any Clock<Duration>,
        until condition: @escaping @Sendable () -> Bool
    ) async {
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Task.isCancelled {
                    let generation = self.generation
                    guard !condition() else { return }
                    await self.wait(since: generation)
                }
            }
            group.addTask { try? await clock.sleep(for: limit) }
            await group.next()
            group.cancelAll()
        }
    }
}
