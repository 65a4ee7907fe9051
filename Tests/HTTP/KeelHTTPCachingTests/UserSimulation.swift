import Foundation
import HTTPTypes
import KeelCache
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Synchronization

/// The possible users of a session over time.
///
/// A call that overlaps a sign-in may belong to either user, any other call to only one.
final class Truth: Sendable {
    static let nobody = "nobody"

    private let states: Mutex<[Set<String>]>

    init() { states = Mutex([[Self.nobody]]) }

    var now: Int { states.withLock { $0.count - 1 } }
    var current: Set<String> { states.withLock { $0.last ?? [] } }
    func becomes(_ names: Set<String>) { states.withLock { $0.append(names) } }

    /// Returns all users from a moment until now.
    func since(_ start: Int) -> Set<String> {
        states.withLock { states in states[start...].reduce(into: Set()) { $0.formUnion($1) } }
    }
}

/// The random choices of one schedule.
final class UserDice: Sendable {
    private let random: Mutex<SeededRandom>

    init(seed: UInt64) { random = Mutex(SeededRandom(seed: seed)) }

    func number(_ range: ClosedRange<Int>) -> Int {
        random.withLock { Int.random(in: range, using: &$0) }
    }

    func pick<Value>(_ values: [Value]) -> Value { values[number(0...(values.count - 1))] }
    func happens(_ percent: Int) -> Bool { number(1...100) <= percent }
}

/// A service whose answers name their user: `user account path`.
///
/// It knows the tokens of its identity server. Its `Vary` is honest; its entity tags are the same
/// for all users, like those of careless servers.
final class NamingOrigin: HTTPTransportDouble, IdentityServer {
    static let account = HTTPField.Name("X-Account") ?? .server

    private let dice: UserDice
    private let hasAccounts: Bool
    private let state = Mutex<(serial: Int, revoked: Set<String>)>((0, []))

    private let saysVary: Bool
    private let loop: SeededLoop

    init(_ dice: UserDice, _ loop: SeededLoop, hasAccounts: Bool, saysVary: Bool) {
        self.dice = dice
        self.loop = loop
        self.hasAccounts = hasAccounts
        self.saysVary = saysVary
    }

    func grant(_ user: String) -> BearerCredentials {
        let serial = state.withLock { state in
            state.serial += 1
            return state.serial
        }
        return BearerCredentials(accessToken: "\(user)/\(serial)", refreshToken: user)
    }

    func refresh(_ credentials: BearerCredentials) async throws -> BearerCredentials {
        await pause()
        return grant(credentials.refreshToken ?? Truth.nobody)
    }

    func revoke(_ token: String) { _ = state.withLock { $0.revoked.insert(token) } }

    func pause(upTo count: Int = 3) async {
        for _ in 0..<dice.number(0...count) { await loop.pause() }
    }

    func send(_ call: HTTPCall) async throws(TransportError) -> HTTPReply {
        await pause()
        guard !Task.isCancelled else { throw TransportError(.cancelled) }
        if dice.happens(8) { throw TransportError(.offline) }
        let token = call.head.headerFields[.authorization].map { String($0.dropFirst(7)) }
        let isRevoked = state.withLock { state in
            token.map { state.revoked.contains($0) } ?? false
        }
        if isRevoked { return HTTPReply(head: HTTPResponse(status: .unauthorized)) }
        let path = call.head.path ?? "/"
        var fields: HTTPFields = [.eTag: "\"1\"", .cacheControl: Self.cacheControl(path)]
        if hasAccounts, saysVary { fields[.vary] = "X-Account" }
        let isKnown = call.head.headerFields[.ifNoneMatch] == "\"1\""
        let user = token.flatMap { $0.split(separator: "/").first } ?? "nobody"
        let account = call.head.headerFields[Self.account] ?? "none"
        await pause()
        return HTTPReply(
            head: HTTPResponse(status: isKnown ? .notModified : .ok, headerFields: fields),
            body: .chunks(isKnown ? [] : [Array("\(user) \(account) \(path)".utf8)])
        )
    }

    private static func cacheControl(_ path: String) -> String {
        switch path {
        case "/0": "max-age=100"
        case "/1": "max-age=1, stale-while-revalidate=1000"
        case "/2": "public, max-age=10"
        default: "no-cache"
        }
    }
}

/// A deliberate flaw for the simulation to find.
enum UserFlaw: CaseIterable, Sendable {
    /// The cache does not separate users.
    case onePartition
    /// The service does not say what its answers depend on.
    case silentVary
}

/// One life of an app: successive processes, with two sessions in each.
///
/// Everything runs in one loop on the calling thread, so that a seed is repeatable.
final class CacheUsersLife: Sendable {
    struct Tally: Sendable {
        var hits = 0
        var hitsAfterRestart = 0
        var overlaps = 0
        var answers = 0
    }

    /// The state that ends with the process.
    struct Process: Sendable {
        let cache: HTTPCache
        let tier: DiskCacheTier
        let sessions: [AuthSession<BearerCredentials>]
        let clients: [NetworkClient]
    }

    static let users = ["ann", "bob", "cat"]

    let dice: UserDice
    private let clock: TestClock
    private let time: CacheClock
    private let loop: SeededLoop
    private let numbers: UserDice
    private let files = SimulatedFileSystem()
    private let origin: NamingOrigin
    private let stores = [0, 1].map { _ in InMemoryCredentialStore<BearerCredentials>() }
    private let truths = [Truth(), Truth()]
    private let accounts = [Truth(), Truth()]
    private let flaw: UserFlaw?
    private let hasAccounts: Bool
    private let hasLayerAbove: Bool
    private let hasLayerBelow: Bool
    private let tally = Mutex(Tally())
    private let failure = Mutex<String?>(nil)
    private let restarts = Mutex(0)

    init(seed: UInt64, flaw: UserFlaw? = nil) {
        self.flaw = flaw
        dice = UserDice(seed: seed)
        numbers = UserDice(seed: ~seed)
        clock = TestClock()
        time = .following(clock)
        loop = SeededLoop(seed: seed, clock)
        hasAccounts = dice.happens(30)
        hasLayerAbove = dice.happens(50)
        hasLayerBelow = dice.happens(50)
        origin = NamingOrigin(dice, loop, hasAccounts: hasAccounts, saysVary: flaw != .silentVary)
        if hasAccounts { for truth in accounts { truth.becomes(["a1"]) } }
    }

    var counts: Tally { tally.withLock { $0 } }

    /// Runs the schedule; returns the first failure.
    func run() -> String? {
        switch loop.run({ try await self.live() }) {
        case .returned: return failure.withLock { $0 }
        case .threw(let error): return "a process failed: \(error)"
        case .stuck: return "a call never ends"
        case .endless: return "it goes on without end"
        }
    }

    private func live() async throws {
        for _ in 0..<dice.number(2...3) {
            let process = try start()
            for _ in 0..<dice.number(3...6) { await step(process) }
            process.cache.cancelRevalidations()
            await process.tier.close()
            restarts.withLock { $0 += 1 }
            guard failure.withLock({ $0 }) == nil else { return }
        }
    }

    private var randomness: @Sendable () -> UInt64 {
        { [numbers] in UInt64(numbers.number(1 ... .max)) }
    }

    private var policy: AuthSessionPolicy {
        var policy = AuthSessionPolicy()
        policy.now = { [time] in time.now.date }
        policy.makeSessionID = { [numbers] in "session-\(numbers.number(1 ... .max))" }
        return policy
    }

    private func start() throws -> Process {
        var disk = DiskCacheTier.Configuration(byteLimit: 1 << 20)
        disk.fileSystem = files
        disk.clock = time
        disk.randomness = randomness
        disk.diskWork = { [loop] work in loop.add(work) }
        let tier = try DiskCacheTier(path: "/cache", configuration: disk)
        var configuration = HTTPCache.Configuration()
        configuration.randomness = randomness
        if flaw == .onePartition { configuration.partition = .none }
        let cache = HTTPCache(configuration, tier: tier, clock: time)
        let sessions = stores.map { AuthSession(server: origin, store: $0, policy: policy) }
        let clients = try sessions.indices.map { index in
            var configuration = try NetworkClient.Configuration("https://api.example.com")
            configuration.retry = .never
            configuration.clock = clock
            if hasLayerAbove { configuration.middleware = [CoalescingMiddleware()] }
            if hasLayerBelow { configuration.hopMiddleware = [CoalescingMiddleware()] }
            configuration.cacheResponses(in: cache)
            if hasAccounts {
                let account = accounts[index]
                configuration.attemptMiddleware = [
                    FieldLayer(name: NamingOrigin.account) { account.current.first ?? "none" }
                ]
            }
            configuration.authorize(with: sessions[index])
            return NetworkClient(configuration, transport: origin)
        }
        return Process(cache: cache, tier: tier, sessions: sessions, clients: clients)
    }

    // MARK: Steps

    /// Makes some calls in both sessions, and possibly changes one user among them.
    private func step(_ process: Process) async {
        let isChanging = dice.happens(50)
        let changed = dice.number(0...1)
        let calls = (0..<dice.number(1...4)).map { _ in (dice.number(0...1), plan()) }
        await withTaskGroup(of: Void.self) { group in
            if isChanging { group.addTask { await self.change(changed, process) } }
            for (index, plan) in calls {
                group.addTask { await self.call(plan, of: index, process) }
            }
        }
        if dice.happens(30) { try? await clock.sleep(for: .seconds(dice.number(1...20))) }
        if hasAccounts, dice.happens(30) { accounts[changed].becomes([dice.pick(["a1", "a2"])]) }
    }

    private func change(_ index: Int, _ process: Process) async {
        let truth = truths[index]
        let session = process.sessions[index]
        switch dice.number(0...5) {
        case 0...2:
            let user = dice.pick(Self.users)
            truth.becomes(truth.current.union([user]))
            try? await session.signIn {
                await self.origin.pause(upTo: 20)
                return self.origin.grant(user)
            }
            truth.becomes([user])
        case 3:
            truth.becomes(truth.current.union([Truth.nobody]))
            try? await session.signOut()
            truth.becomes([Truth.nobody])
        case 4: try? await session.refresh()
        default:
            if let token = session.current?.accessToken { origin.revoke(token) }
        }
    }

    private func plan() -> HTTPCall {
        var options = HTTPCallOptions()
        options.authentication = dice.pick([.required, .required, .optional, .none])
        options.cachePolicy = dice.pick([
            .standard, .standard, .standard, .revalidate, .reload, .cacheElseNetwork, .cacheOnly,
            .staleWhenOffline,
        ])
        let head = HTTPRequest("https://api.example.com/\(dice.number(0...3))")
        return HTTPCall(head, options: options)
    }

    private struct GetPath: Endpoint {
        typealias Response = [String]
        var name: String
        var path: EndpointPath { "/\(name)" }
    }

    private func call(_ plan: HTTPCall, of index: Int, _ process: Process) async {
        let start = (truths[index].now, accounts[index].now)
        let path = plan.head.path ?? "/"
        let text: String
        let result: HTTPCacheResult?
        do {
            if dice.happens(30) {
                let reply = try await process.clients[index].send(plan)
                guard reply.head.status == .ok else { return }
                result = reply.cacheResult
                text = String(decoding: try await reply.body.collect(upTo: 1000), as: UTF8.self)
            } else {
                let name = String(path.dropFirst())
                let response = try await process.clients[index]
                    .response(to: GetPath(name: name), options: plan.options).get()
                guard response.status == .ok else { return }
                result = response.cacheResult
                text = String(decoding: response.body, as: UTF8.self)
            }
        } catch { return }
        var users = truths[index].since(start.0)
        let isOverlapping = users.count > 1
        if plan.options.authentication == .none { users = [] }
        users.insert(Truth.nobody)
        let found = text.split(separator: " ").map(String.init)
        let accounts = hasAccounts ? self.accounts[index].since(start.1) : ["none"]
        if found.count != 3 || !users.contains(found[0]) || !accounts.contains(found[1])
            || found[2] != path
        {
            let source = result.map { "\($0)" } ?? "no cache"
            failure.withLock { $0 = "\(path): \(text) (\(source)) for \(users), \(accounts)" }
        }
        let isRestarted = restarts.withLock { $0 > 0 }
        tally.withLock { tally in
            tally.answers += 1
            if isOverlapping { tally.overlaps += 1 }
            guard result?.isFromCache == true else { return }
            tally.hits += 1
            if isRestarted, found[0] != Truth.nobody { tally.hitsAfterRestart += 1 }
        }
    }
}
