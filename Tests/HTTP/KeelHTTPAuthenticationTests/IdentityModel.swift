import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import Synchronization

/// A service and its identity server, which share the set of valid tokens.
///
/// Refresh tokens rotate. A second use of one ends its whole family, as with real servers.
final class IdentityModel: IdentityServer {
    /// The outcome of one refresh; it may wait before it returns.
    typealias Answer = @Sendable (_ number: Int) async throws -> Void

    private struct State {
        var serial = 0
        var good: Set<String> = []
        var refreshable: Set<String> = []
        var used: Set<String> = []
        var refreshCount = 0
        var concurrent = 0
        var mostConcurrent = 0
        var reuseCount = 0
        var accepted: [String] = []
    }

    private let state = Mutex(State())
    private let answer: Answer
    private let lifetime: TimeInterval?
    private let now: @Sendable () -> Date

    init(
        lifetime: TimeInterval? = nil,
        answer: @escaping Answer = { _ in },
        now: @escaping @Sendable () -> Date = { Date(timeIntervalSince1970: 0) }
    ) {
        self.answer = answer
        self.lifetime = lifetime
        self.now = now
    }

    var refreshCount: Int { state.withLock { $0.refreshCount } }
    var mostConcurrentRefreshes: Int { state.withLock { $0.mostConcurrent } }
    var reuseCount: Int { state.withLock { $0.reuseCount } }
    /// The tokens of accepted requests.
    var accepted: [String] { state.withLock { $0.accepted } }

    func grant() -> BearerCredentials {
        let end = lifetime.map { now().addingTimeInterval($0) }
        return state.withLock { state in Self.grant(&state, end) }
    }

    /// Returns a session that has signed in.
    func signedIn(
        store: any CredentialStore<BearerCredentials> =
            InMemoryCredentialStore<BearerCredentials>(),
        policy: AuthSessionPolicy = AuthSessionPolicy()
    ) async throws -> AuthSession<BearerCredentials> {
        let session = AuthSession(server: self, store: store, policy: policy)
        try await session.signIn { self.grant() }
        return session
    }

    private static func grant(_ state: inout State, _ end: Date?) -> BearerCredentials {
        state.serial += 1
        let access = "access-\(state.serial)-SECRET"
        let refresh = "refresh-\(state.serial)-SECRET"
        state.good.insert(access)
        state.refreshable.insert(refresh)
        return BearerCredentials(accessToken: access, refreshToken: refresh, expiresAt: end)
    }

    /// Makes the service refuse all tokens issued so far.
    func revokeAccess() { state.withLock { $0.good = [] } }

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        let number = state.withLock { state in
            state.refreshCount += 1
            state.concurrent += 1
            state.mostConcurrent = max(state.mostConcurrent, state.concurrent)
            return state.refreshCount
        }
        defer { state.withLock { $0.concurrent -= 1 } }
        try await answer(number)
        let end = lifetime.map { now().addingTimeInterval($0) }
        return try state.withLock { state in
            let token = credentials.refreshToken ?? ""
            guard state.refreshable.remove(token) != nil else {
                if state.used.contains(token) { state.reuseCount += 1 }
                state.refreshable = []
                throw AuthenticationError(.denied)
            }
            state.used.insert(token)
            return Self.grant(&state, end)
        }
    }

    /// Answers a request: 401 unless it is signed with a good token.
    func respond(to head: HTTPRequest) -> HTTPReply {
        let token = (head.headerFields[.authorization] ?? "").dropFirst("Bearer ".count)
        let isGood = state.withLock { state in
            guard state.good.contains(String(token)) else { return false }
            state.accepted.append(String(token))
            return true
        }
        return HTTPReply(head: HTTPResponse(status: isGood ? .ok : .unauthorized))
    }

    func transport() -> ScriptedHTTPTransport {
        ScriptedHTTPTransport(
            then: ScriptedHTTPTransport.Answer { call async throws(TransportError) in
                self.respond(to: call.head)
            }
        )
    }
}

/// A store that logs its calls in order and fails on demand.
final class RecordingStore: CredentialStore {
    private let state = Mutex<(kept: BearerCredentials?, log: [String], failures: Int)>(
        (nil, [], 0)
    )
    private let pause: @Sendable () async -> Void

    init(
        _ kept: BearerCredentials? = nil,
        failures: Int = 0,
        pause: @escaping @Sendable () async -> Void = {}
    ) {
        self.pause = pause
        var kept = kept
        // As a session leaves it.
        if kept?.sessionID == nil { kept?.sessionID = "stored" }
        state.withLock { $0 = (kept, [], failures) }
    }

    var kept: BearerCredentials? { state.withLock { $0.kept } }
    var log: [String] { state.withLock { $0.log } }
    func note(_ line: String) { state.withLock { $0.log.append(line) } }
    func failNext(_ count: Int) { state.withLock { $0.failures = count } }

    struct Full: Error {}

    let isReadable = Watched(true)

    func load() async throws -> BearerCredentials? {
        guard isReadable.value else { throw Full() }
        return kept
    }

    func save(_ credentials: BearerCredentials) async throws {
        try await keep(credentials, noting: "save \(credentials.accessToken)")
    }

    func clear() async throws { try await keep(nil, noting: "clear") }

    private func keep(_ credentials: BearerCredentials?, noting line: String) async throws {
        await pause()
        try state.withLock { state in
            if state.failures > 0 {
                state.failures -= 1
                throw Full()
            }
            state.kept = credentials
            state.log.append(line)
        }
    }
}

/// A gate at which tasks wait until a test opens it.
final class Door: Sendable {
    private let state = Mutex<(isOpen: Bool, waiting: [CheckedContinuation<Void, Never>])>(
        (false, [])
    )
    private let arrivals = AsyncStream.makeStream(of: Void.self)

    func wait() async {
        await withCheckedContinuation { continuation in
            let isOpen = state.withLock { state in
                if !state.isOpen { state.waiting.append(continuation) }
                return state.isOpen
            }
            if isOpen { continuation.resume() }
            arrivals.continuation.yield()
        }
    }

    /// Waits until a task has arrived at the gate.
    func waitForArrival() async {
        for await _ in arrivals.stream { return }
    }

    func open() {
        let waiting = state.withLock { state in
            state.isOpen = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for task in waiting { task.resume() }
    }
}
