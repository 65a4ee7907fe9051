#if ServiceLifecycle
import KeelCache
import KeelHTTP
import KeelLogging
import KeelServiceLifecycle
import KeelStorage
import KeelTestKit
import Logging
import ServiceLifecycle
import Synchronization
import Testing

@Suite("Services in a service group", .timeLimit(.minutes(1)))
struct LifecycleTests {
    /// The events, in order.
    private final class Diary: Sendable {
        private let lines = Mutex<[String]>([])
        var all: [String] { lines.withLock { $0 } }
        func write(_ line: String) { lines.withLock { $0.append(line) } }
    }

    private struct Failure: Error, Equatable {}

    private let diary = Diary()

    /// Runs services in a group, and shuts it down when the last of them has started.
    private func run(_ services: LifecycleService...) async throws {
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let last = LifecycleService("last") {
            beginning.finish()
            try await gracefulShutdown()
        }
        let group = ServiceGroup(
            services: services + [last],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        try await withThrowingTaskGroup(of: Void.self) { tasks in
            tasks.addTask { try await group.run() }
            for await _ in begun {}
            await group.triggerGracefulShutdown()
            try await tasks.waitForAll()
        }
    }

    private func service(_ name: String) -> LifecycleService {
        LifecycleService(name) { [diary] in
            diary.write("\(name) runs")
            let (never, _) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            diary.write("\(name) is cancelled: \(Task.isCancelled)")
        } finish: { [diary] in
            diary.write("\(name) finishes: \(!Task.isCancelled)")
        }
    }

    @Test("A shutdown cancels the run but not the finish step")
    func order() async throws {
        try await run(service("a"))
        #expect(diary.all == ["a runs", "a is cancelled: true", "a finishes: true"])
    }

    @Test("Services are shut down one by one in reverse order")
    func reverse() async throws {
        try await run(service("a"), service("b"))
        let endings = diary.all.filter { $0.contains("finishes") }
        #expect(endings == ["b finishes: true", "a finishes: true"])
    }

    @Test("A failed run fails the group after it has finished")
    func failing() async throws {
        let service = LifecycleService("a") {
            throw Failure()
        } finish: { [diary] in
            diary.write("finished")
        }
        await #expect(throws: Failure.self) { try await service.run() }
        #expect(diary.all == ["finished"])
    }

    @Test("A run that fails because of the shutdown is not a failure")
    func cancelled() async throws {
        try await run(
            LifecycleService("a") {
                try await gracefulShutdown()
                throw Failure()
            }
        )
    }

    @Test("A run that failed before a shutdown fails the group")
    func failingBefore() async throws {
        let (finishing, beginning) = AsyncStream<Void>.makeStream()
        let service = LifecycleService("a", clock: TestClock()) {
            throw Failure()
        } finish: { [diary] in
            beginning.finish()
            try? await gracefulShutdown()
            diary.write("finished")
        }
        let group = ServiceGroup(
            services: [service],
            logger: Logger(label: "test") { _ in SwiftLogNoOpLogHandler() }
        )
        let run = Task { try await group.run() }
        for await _ in finishing {}
        await group.triggerGracefulShutdown()
        await #expect(throws: Failure.self) { try await run.value }
        #expect(diary.all == ["finished"])
    }

    @Test("A finish step that exceeds its timeout is canceled")
    func limit() async throws {
        let clock = TestClock()
        let (begun, beginning) = AsyncStream<Void>.makeStream()
        let service = LifecycleService("a", finishTimeout: .seconds(10), clock: clock) {
        } finish: { [diary] in
            beginning.finish()
            let (never, _) = AsyncStream<Void>.makeStream()
            for await _ in never {}
            diary.write("cancelled: \(Task.isCancelled)")
        }
        async let run: Void = service.run()
        for await _ in begun {}
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        try await run
        #expect(diary.all == ["cancelled: true"])
    }

    @Test("Shutdown closes a transport, flushes a cache and synchronizes a log")
    func closing() async throws {
        let transport = ScriptedHTTPTransport([])
        let tier = InMemoryCacheTier().recorded()
        let output = CountingOutput()
        let store = CacheStore(over: tier)
        try await run(transport.service(), store.service(), output.service())
        #expect(transport.isShutDown)
        #expect(tier.callCount(of: .flush) == 1)
        #expect(output.count == 1)
    }

    @Test("A live collection listens until the shutdown")
    @MainActor
    func live() async throws {
        let storage = StorageClient(InMemoryStorageAdapter())
        let live = LiveCollection(storage.collection("notes", as: [String: String].self))
        try await run(live.service())
    }
}

private final class CountingOutput: LogOutput {
    private let synchronized = Mutex(0)
    var count: Int { synchronized.withLock { $0 } }
    func write(_ record: LogRecord) {}
    func synchronize() { synchronized.withLock { $0 += 1 } }
}
#endif
