import Foundation
import HTTPTypes
import KeelCache
import KeelHTTP
import KeelHTTPAuthentication
import KeelHTTPCaching
import KeelTestKit
import KeelTestSupport
import Synchronization

/// One life of an app, according to a plan: two clients with their stacks, over one cache.
///
/// Everything runs in one loop on the calling thread, so that a plan is repeatable.
final class StackLife: Sendable {
    /// The parts of a client that last for one process.
    struct Place: Sendable {
        let client: NetworkClient
        let session: AuthSession<BearerCredentials>
        /// The value that the app's layer adds; nil without the layer.
        let account: String
        let coalescing: [CoalescingMiddleware]
        let limit: ConcurrencyLimitMiddleware?
    }

    static let limit = Duration.seconds(30)
    static var home: HTTPOrigin? {
        URL(string: "https://\(StackOrigin.home)").flatMap { HTTPOrigin($0) }
    }

    let plan: StackPlan
    let flaw: StackFlaw?
    let ledger: StackLedger
    let clock: TestClock
    /// The time of day, which restarts do not reset.
    let time: CacheClock
    let origin: StackOrigin
    let truths = [Truth(), Truth()]
    /// The changes of each target that a client knows of; no cache may return an earlier state.
    let changes = Mutex<[String: Int]>([:])
    let calls = Mutex<(serial: Int, pending: [Int: StackPlan.Call])>((0, [:]))
    let numbers: UserDice
    private let loop: SeededLoop
    private let stores = [0, 1].map { _ in InMemoryCredentialStore<BearerCredentials>() }
    private let files = Mutex(SimulatedFileSystem())

    init(_ plan: StackPlan, flaw: StackFlaw? = nil, isTraced: Bool = false) {
        self.plan = plan
        self.flaw = flaw
        ledger = StackLedger(isTraced: isTraced)
        clock = TestClock()
        time = .following(clock)
        loop = SeededLoop(seed: plan.order, clock)
        origin = StackOrigin(plan, clock, ledger)
        numbers = UserDice(seed: ~plan.seed)
    }

    /// Runs the life; returns the first broken promise.
    func run() -> String? {
        switch loop.run({ try await self.live() }) {
        case .returned: break
        case .threw(let error): ledger.fail("a process failed: \(error)")
        case .stuck:
            let pending = calls.withLock { $0.pending.sorted { $0.key < $1.key } }
            ledger.fail("never ends: \(pending.map { "\($0.value)" }.joined(separator: "; "))")
        case .endless: ledger.fail("goes on without end")
        }
        return ledger.failure
    }

    private func live() async throws {
        for (number, process) in plan.processes.enumerated() {
            try await run(process, number)
            guard ledger.failure == nil else { return }
        }
    }

    /// Runs one launch of the app, until its end.
    private func run(_ process: StackPlan.Process, _ number: Int) async throws {
        ledger.trace("process \(number)")
        if number > 0 { ledger.count(.restarts) }
        let tier = try makeTier()
        let cache = makeCache(tier)
        let shared = CoalescingMiddleware()
        var places = try plan.clients.indices.map { index in
            let session = AuthSession(server: origin, store: stores[index], policy: policy)
            return try place(index, session, cache, shared)
        }
        for place in places { _ = try await place.session.restore() }
        for step in process.steps {
            await run(step, places, isRestarted: number > 0)
            try? await clock.sleep(for: step.pause)
            await check(places, cache)
            guard ledger.failure == nil else { break }
        }
        cache.cancelRevalidations()
        places = []
        await loop.quiet()
        if origin.openCount > 0 { ledger.fail("an exchange outlives its client") }
        if process.isKilled {
            ledger.count(.kills)
            files.withLock { $0 = SimulatedFileSystem($0.disk) }
        } else {
            await tier.close()
        }
    }

    private func makeTier() throws -> DiskCacheTier {
        var configuration = DiskCacheTier.Configuration(byteLimit: 1 << 20)
        configuration.fileSystem = files.withLock { $0 }
        configuration.clock = time
        configuration.randomness = randomness
        configuration.diskWork = { [loop] work in loop.add(work) }
        return try DiskCacheTier(path: "/cache", configuration: configuration)
    }

    private func makeCache(_ tier: DiskCacheTier) -> HTTPCache {
        var configuration = HTTPCache.Configuration()
        configuration.fileThreshold = 1024
        configuration.randomness = randomness
        if flaw == .sharedPartition { configuration.partition = .none }
        return HTTPCache(configuration, tier: tier, clock: time)
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

    // MARK: Steps

    private func run(_ step: StackPlan.Step, _ places: [Place], isRestarted: Bool) async {
        await withTaskGroup(of: Void.self) { group in
            for (index, delay, change) in step.changes {
                group.addTask { await self.make(change, of: index, after: delay, places[index]) }
            }
            for call in step.calls {
                group.addTask {
                    await self.make(call, places[call.client], isRestarted: isRestarted)
                }
            }
        }
    }

    private func make(
        _ change: StackPlan.Change,
        of index: Int,
        after delay: Duration,
        _ place: Place
    ) async {
        if delay > .zero { try? await clock.sleep(for: delay) }
        let (truth, session) = (truths[index], place.session)
        ledger.trace("\(clock.elapsed) client \(index): \(change)")
        switch change {
        case .signIn(let user):
            truth.becomes(truth.current.union([user]))
            try? await session.signIn {
                await self.loop.pause()
                return self.origin.grant(user)
            }
            truth.becomes([user])
            ledger.count(.signIns)
        case .signOut:
            truth.becomes(truth.current.union([Truth.nobody]))
            try? await session.signOut()
            truth.becomes([Truth.nobody])
            ledger.count(.signOuts)
        case .refresh: try? await session.refresh()
        case .revoke:
            if let token = session.current?.accessToken { origin.revoke(token) }
        }
    }

    // MARK: Between the steps

    /// Checks that nothing is left of completed calls.
    private func check(_ places: [Place], _ cache: HTTPCache) async {
        await cache.waitForRevalidations()
        // The renewal of a token continues after the calls that wanted it.
        try? await clock.sleep(for: .seconds(2))
        await loop.quiet()
        if origin.insideCount > 0 { ledger.fail("a request is still under way") }
        if origin.openCount > 0 { ledger.fail("a body is held") }
        if clock.sleeperCount > 0 { ledger.fail("somebody still waits for a moment") }
        if cache.waitingCalls > 0 { ledger.fail("somebody still waits for a revalidation") }
        for place in places {
            if place.coalescing.contains(where: { $0.waiterCount > 0 }) {
                ledger.fail("somebody still waits for a shared reply")
            }
        }
        for (place, plan) in zip(places, plan.clients) {
            guard let limit = place.limit else { continue }
            for host in [StackOrigin.home, StackOrigin.stranger] {
                await probe(limit, plan.places, host)
            }
        }
    }

    /// Fills all slots of a limit, which must have as many as at the beginning.
    private func probe(_ limit: ConcurrencyLimitMiddleware, _ count: Int, _ host: String) async {
        let gate = Gate()
        let next = HTTPNext { _ async throws(TransportError) in
            _ = try? await gate.pass()
            return HTTPReply(head: HTTPResponse(status: .ok))
        }
        let call = HTTPCall(HTTPRequest(method: .get, scheme: "https", authority: host, path: "/"))
        let probes = (0..<count).map { _ in
            Task { _ = try? await limit.intercept(call, next: next) }
        }
        await loop.quiet()
        if gate.begunCount < count { ledger.fail("a place at \(host) is held") }
        for probe in probes { probe.cancel() }
        for probe in probes { await probe.value }
    }
}
