import Dispatch
import KeelCore
import KeelHTTP
import KeelHTTPAuthentication
import KeelTestKit
import Testing

@Suite("Late waiters of a refresh", .timeLimit(.minutes(1)))
struct StarvedWaiterTests {
    /// An executor whose queue can be suspended.
    private final class StoppableExecutor: TaskExecutor {
        private let queue = DispatchQueue(label: "stoppable")

        func enqueue(_ job: consuming ExecutorJob) {
            let job = UnownedJob(job)
            queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
        }

        func stop() { queue.suspend() }

        /// Resumes the queue and returns when all pending work has run.
        func goOn() async {
            queue.resume()
            await withCheckedContinuation { continuation in queue.async { continuation.resume() } }
        }
    }

    @Test("A late waiter is not reported as signed out while the next refresh is being saved")
    func waitsForNextRefresh() async throws {
        let (answering, saving) = (Door(), Door())
        let saves = Watched(0)
        let identity = IdentityModel(answer: { if $0 == 1 { await answering.wait() } })
        let store = RecordingStore(pause: {
            saves.change { $0 += 1 }
            // The sign-in and the first refresh are saved immediately.
            if saves.value == 3 { await saving.wait() }
        })
        let session = AuthSession(server: identity, store: store)
        try await session.signIn { identity.grant() }
        var states = session.states.makeAsyncIterator()
        let token = try await session.token()
        let executor = StoppableExecutor()
        let waiter = Task(executorPreference: executor) {
            try await session.token(after: token).value
        }
        await answering.waitForArrival()
        executor.stop()
        answering.open()
        while await states.next() != .signedIn(version: 2) {}
        let renewal = Task { try await session.refresh() }
        await saving.waitForArrival()
        await executor.goOn()
        saving.open()
        #expect(try await waiter.value == "access-3-SECRET")
        try await renewal.value
        #expect(session.state == .signedIn(version: 3))
    }

    @Test("Waiters of the previous user do not receive the next user's token")
    func sparesNextUser() async throws {
        let dates = TestDates()
        var policy = AuthSessionPolicy()
        policy.now = { dates.now }
        let answering = Door()
        let identity = IdentityModel(
            lifetime: 100,
            answer: { _ in
                await answering.wait()
                throw NetworkError(.noConnection)
            },
            now: { dates.now }
        )
        let session = AuthSession(server: identity, policy: policy)
        try await session.signIn { identity.grant() }
        var states = session.states.makeAsyncIterator()
        // The token is due for renewal but valid: it may be used if the renewal fails.
        dates.advance(by: 50)
        let executor = StoppableExecutor()
        let waiter = Task(executorPreference: executor) { try await session.token().value }
        await answering.waitForArrival()
        executor.stop()
        try await session.signIn { identity.grant() }
        while await states.next() != .signedIn(version: 2) {}
        await executor.goOn()
        answering.open()
        await #expect(throws: AuthenticationError.self) { try await waiter.value }
    }
}
