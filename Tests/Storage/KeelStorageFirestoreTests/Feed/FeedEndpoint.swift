import HTTPTypes
import KeelHTTP
import KeelServing
import KeelStorage
import KeelStorageAdapting
import KeelStorageFirestore
import KeelTestKit
import Synchronization

/// A change server in the same process, whose streams a test can refuse or break off.
final class FeedEndpoint: HTTPTransportDouble {
    private struct State {
        var requests: [HTTPRequest] = []
        var streamStatus: Int?
        /// The number of breaks.
        ///
        /// Streams opened before a break end at their next read.
        var breaks = 0
        var waiters: [Int: [CheckedContinuation<Void, Never>]] = [:]
    }

    let service: ChangeService
    private let state = Mutex(State())

    init(_ service: ChangeService) { self.service = service }

    /// The requests so far, as `changes` and `events` with their queries.
    var requests: [String] {
        state.withLock { state in
            state.requests.map { String(($0.path ?? "").split(separator: "/").last ?? "") }
        }
    }

    var heads: [HTTPRequest] { state.withLock { $0.requests } }

    func count(_ kind: String) -> Int { requests.count { $0.hasPrefix(kind) } }

    /// Answers requests for streams with a status; nil accepts them.
    func refuseStreams(with status: Int?) { state.withLock { $0.streamStatus = status } }

    /// Breaks off all open streams at their next event.
    func breakStreams() { state.withLock { $0.breaks += 1 } }

    /// Waits for a number of requests.
    func waitForRequests(_ count: Int) async {
        await withCheckedContinuation { continuation in
            let isDue = state.withLock { state in
                if state.requests.count >= count { return true }
                state.waiters[count, default: []].append(continuation)
                return false
            }
            if isDue { continuation.resume() }
        }
    }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        let (status, breaks, woken) = state.withLock { state in
            state.requests.append(call.head)
            let woken = state.waiters.filter { $0.key <= state.requests.count }
            for count in woken.keys { state.waiters[count] = nil }
            return (state.streamStatus, state.breaks, woken.values.flatMap(\.self))
        }
        for waiter in woken { waiter.resume() }
        let isStream = (call.head.path ?? "").contains("/events?")
        if isStream, let status {
            return HTTPReply(head: HTTPResponse(status: .init(code: status)))
        }
        let reply =
            isStream
            ? await service.events(call, scope: "all") : await service.changes(call, scope: "all")
        guard !Task.isCancelled else { throw TransportError(.cancelled, phase: .awaitHead) }
        guard isStream else { return reply }
        var broken = reply
        broken.body = reply.body.mapReads { [self] read async throws(TransportError) in
            let chunk = try await read()
            guard state.withLock({ $0.breaks }) == breaks else {
                throw TransportError(.connectionLost, phase: .readBody)
            }
            return chunk
        }
        return broken
    }
}

/// A store that reads its changes over HTTP; all other operations are local.
struct FedAdapter: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let feed: SyncFeed

    init(_ upstream: InMemoryStorageAdapter) {
        self.upstream = upstream
        let endpoint = FeedEndpoint(ChangeService(adapter: upstream))
        feed = SyncFeed(transport: endpoint, configuration: .test)
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        try await feed.changes(request)
    }
}

extension SyncFeed.Configuration {
    static var test: Self {
        Self(scheme: "http", authority: "server", database: "projects/keel/databases/(default)")
    }

    /// Returns a feed of the default database on a clock.
    static func test(on clock: any Clock<Duration>) -> Self {
        var configuration = Self.test
        configuration.clock = clock
        return configuration
    }
}
