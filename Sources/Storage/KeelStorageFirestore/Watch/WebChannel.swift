internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import KeelStorageAdapting
internal import Synchronization

/// A WebChannel over an HTTP transport, which drives ``WebChannelMachine``.
package final class WebChannel: Sendable {
    package struct Configuration: Sendable {
        package var scheme: String
        package var authority: String
        /// The path before the service's name; empty, or with a leading slash and no trailing slash.
        package var pathPrefix = ""
        package var database: String
        package var limit: Int
        /// The time without a byte after which a connection counts as dead; the server sends one every 30 seconds.
        package var stallTimeout = Duration.seconds(45)
        package var replyTimeout = Duration.seconds(30)

        package init(scheme: String, authority: String, database: String, limit: Int = 64 << 20) {
            self.scheme = scheme
            self.authority = authority
            self.database = database
            self.limit = limit
        }
    }

    private enum Work: Sendable {
        case post(WebChannelMachine.Request)
        case get(WebChannelMachine.Request, number: Int)
    }

    private struct State {
        var machine: WebChannelMachine
        var end: WebChannelMachine.End?
        /// The number of the last GET; replies to an earlier one are ignored.
        var stream = 0
    }

    private let transport: any HTTPTransport
    private let configuration: Configuration
    private let state: Mutex<State>
    /// Admits one event at a time: while the messages of a reply are delivered, another reply may take its place.
    private let turns = TaskQueue()
    private let (work, works) = AsyncStream.makeStream(of: Work.self)
    private let deliver: @Sendable (FirestoreJSON) async -> Void

    init(
        _ configuration: Configuration,
        transport: any HTTPTransport,
        deliver: @escaping @Sendable (FirestoreJSON) async -> Void
    ) {
        self.transport = transport
        self.configuration = configuration
        self.deliver = deliver
        state = Mutex(
            State(
                machine: WebChannelMachine(
                    database: configuration.database,
                    firstRequest: .random(in: 10_000..<100_000),
                    limit: configuration.limit
                )
            )
        )
    }

    /// Opens the channel, and keeps it open until it ends or the task is canceled; returns why the channel ended.
    func run(
        headers: [(name: String, value: String)],
        messages: [String]
    ) async -> WebChannelMachine.End {
        await handle(.open(headers: headers, messages: messages))
        await withTaskCancellationHandler {
            await withDiscardingTaskGroup { group in
                for await work in work { group.addTask { await self.perform(work) } }
                group.cancelAll()
            }
        } onCancel: {
            close()
        }
        return state.withLock { $0.end ?? .closed }
    }

    func send(_ messages: [String]) {
        perform(state.withLock { $0.machine.handle(.send(messages)) })
    }

    func close() { perform(state.withLock { $0.machine.handle(.close) }) }

    var waitingCount: Int { turns.count }

    private func handle(_ event: WebChannelMachine.Event) async {
        guard await turns.enter() else { return }
        defer { turns.leave() }
        await handleNow(event)
    }

    private func handleNow(_ event: WebChannelMachine.Event) async {
        let effects = state.withLock { $0.machine.handle(event) }
        for case .deliver(let message) in effects { await deliver(message) }
        perform(effects)
    }

    private func perform(_ effects: [WebChannelMachine.Effect]) {
        for effect in effects {
            switch effect {
            case .post(let request): works.yield(.post(request))
            case .get(let request):
                let number = state.withLock { state in
                    state.stream += 1
                    return state.stream
                }
                works.yield(.get(request, number: number))
            case .deliver: break
            case .terminate(let request):
                // It outlives the channel, and its reply does not matter.
                StorageContext.withoutContext {
                    _ = Task { [transport, call = call(request)] in
                        try? await transport.send(call)
                    }
                }
            case .end(let end):
                state.withLock { $0.end = $0.end ?? end }
                works.finish()
            }
        }
    }

    // MARK: Requests

    private func perform(_ work: Work) async {
        switch work {
        case .post(let request): await handle(await post(request))
        case .get(let request, let number): await stream(request, number)
        }
    }

    private func post(_ request: WebChannelMachine.Request) async -> WebChannelMachine.Event {
        do throws(TransportError) {
            let reply = try await transport.send(call(request))
            let body = try await reply.body.collect(upTo: 1 << 20)
            let session = reply.head.headerFields[Self.sessionField]
            return .replied(status: reply.head.status.code, body: body, session: session)
        } catch {
            return .unanswered(StorageError(transport: error, isWrite: false))
        }
    }

    private func stream(_ request: WebChannelMachine.Request, _ number: Int) async {
        do throws(TransportError) {
            let reply = try await transport.send(call(request))
            await handle(.streaming(status: reply.head.status.code), ofStream: number)
            var chunks = reply.body.makeAsyncIterator()
            while let chunk = try await chunks.next() {
                guard await handle(.received(Array(chunk)), ofStream: number) else { return }
            }
            await handle(.streamEnded(nil), ofStream: number)
        } catch {
            let error = StorageError(transport: error, isWrite: false)
            await handle(.streamEnded(error), ofStream: number)
        }
    }

    /// Returns whether the GET is the present one.
    @discardableResult
    private func handle(_ event: WebChannelMachine.Event, ofStream number: Int) async -> Bool {
        guard await turns.enter() else { return false }
        defer { turns.leave() }
        guard state.withLock({ $0.stream == number }) else { return false }
        await handleNow(event)
        return true
    }

    private static let sessionField = HTTPField.Name.known("X-HTTP-Session-Id")

    private func call(_ request: WebChannelMachine.Request) -> HTTPCall {
        let path =
            "\(configuration.pathPrefix)/google.firestore.v1.Firestore/Listen/channel?\(request.query)"
        var head = HTTPRequest(
            method: request.form == nil ? .get : .post,
            scheme: configuration.scheme,
            authority: configuration.authority,
            path: path
        )
        // Google's emulator closes these connections without notice, after which another request on them would fail.
        if configuration.scheme == "http" { head.headerFields[.connection] = "close" }
        guard let form = request.form else {
            let limit = configuration.stallTimeout
            return HTTPCall(head, timeouts: HTTPTimeouts(firstByte: limit, idle: limit))
        }
        head.headerFields[.contentType] = "application/x-www-form-urlencoded"
        let limit = configuration.replyTimeout
        return HTTPCall(
            head,
            body: HTTPBody(Array(form.utf8)),
            timeouts: HTTPTimeouts(firstByte: limit, idle: limit)
        )
    }
}
