import Foundation
import HTTPTypes
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import KeelTestSupport
import Synchronization
import Testing

/// An exploration of orders of events: every slow operation waits for a seeded choice.
///
/// `KEEL_AUTH_SEEDS` sets the number of orders.
@Suite("Sessions under every order of events", .timeLimit(.minutes(30)))
struct AuthExplorerTests {
    @Test("A session stays consistent under any order of events")
    func explores() async throws {
        let count = TestLength.count("KEEL_AUTH_SEEDS", 300, thorough: 1_000)
        for seed in 1...UInt64(max(1, count)) { try await explore(seed) }
    }

    private func explore(_ seed: UInt64) async throws {
        let scheduler = Scheduler(seed: seed)
        let dates = TestDates()
        let identity = IdentityModel { _ in
            await scheduler.step()
            switch scheduler.choose(8) {
            case 0: throw NetworkError(.noConnection)
            case 1: throw AuthenticationError(.denied)
            default: break
            }
        }
        let store = RecordingStore(pause: { await scheduler.step() })
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        policy.refreshLimit = 100
        let session = AuthSession(server: identity, store: store, policy: policy)
        let unsaved = Mutex<[String]>([])
        let transport = ScriptedHTTPTransport(
            then: .init { call async throws(TransportError) in
                let token = (call.head.headerFields[.authorization] ?? "")
                    .dropFirst("Bearer ".count)
                if !store.log.contains("save \(token)") {
                    unsaved.withLock { $0.append(String(token)) }
                }
                await scheduler.step()
                return identity.respond(to: call.head)
            }
        )
        let client = try makeClient(transport) {
            $0.timeout = nil
            $0.authorize(with: session)
        }
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { await scheduler.drive() }
            group.addTask {
                try? await session.signIn { identity.grant() }
                await withTaskGroup(of: Void.self) { work in
                    for index in 0..<8 {
                        work.addTask {
                            await scheduler.step()
                            switch (index, scheduler.choose(6)) {
                            case (0, _): identity.revokeAccess()
                            case (1, 0): try? await session.signOut()
                            case (1, 1), (2, 2): try? await session.signIn { identity.grant() }
                            case (2, 1):
                                let task = Task { _ = await client.response(to: GetProfile()) }
                                await scheduler.step()
                                task.cancel()
                                await task.value
                            default: _ = await client.response(to: GetProfile())
                            }
                        }
                    }
                }
                // In the end, the current user gets a token or a typed error.
                _ = try? await session.token()
                let turn = Task { try? await session.restore() }
                _ = await turn.value
                scheduler.finish()
            }
            try await group.waitForAll()
        }
        // One per session: the refresh of an ended session may still be in progress.
        #expect(identity.mostConcurrentRefreshes <= 3, "seed \(seed)")
        #expect(identity.reuseCount == 0, "seed \(seed): a refresh token was used twice")
        #expect(unsaved.withLock { $0 } == [], "seed \(seed): signed before it was saved")
        // The next launch would find the state that is in memory.
        #expect(session.current == store.kept, "seed \(seed): \(session.state) \(store.log)")
    }
}

/// A scheduler that resumes waiting tasks one at a time, in a seeded order.
private final class Scheduler: Sendable {
    private struct State {
        var random: SeededRandom
        var waiting: [CheckedContinuation<Void, Never>] = []
        var isFree = false
        var isFinished = false
    }

    private let state: Mutex<State>

    init(seed: UInt64) { state = Mutex(State(random: SeededRandom(seed: seed))) }

    func choose(_ count: Int) -> Int {
        state.withLock { Int.random(in: 0..<count, using: &$0.random) }
    }

    func step() async {
        await withCheckedContinuation { continuation in
            let isFree = state.withLock { state in
                if !state.isFree { state.waiting.append(continuation) }
                return state.isFree
            }
            if isFree { continuation.resume() }
        }
    }

    func finish() { state.withLock { $0.isFinished = true } }

    func drive() async {
        // A session that hangs never finishes; the suite's time limit then ends this loop.
        while !Task.isCancelled, !state.withLock({ $0.isFinished }) {
            // Lets the tasks reach their next step, so that there is a choice.
            for _ in 0..<10 { await Task.yield() }
            let next = state.withLock { state -> CheckedContinuation<Void, Never>? in
                guard !state.waiting.isEmpty else { return nil }
                let index = Int.random(in: 0..<state.waiting.count, using: &state.random)
                return state.waiting.remove(at: index)
            }
            next?.resume()
        }
        let rest = state.withLock { state in
            state.isFree = true
            defer { state.waiting = [] }
            return state.waiting
        }
        for task in rest { task.resume() }
    }
}
