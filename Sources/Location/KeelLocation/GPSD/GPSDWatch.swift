#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)
internal import KeelCore
internal import Synchronization

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A monitoring of gpsd: successive connections, until it is ended.
final class GPSDWatch: Sendable {
    private let configuration: GPSDLocationAdapter.Configuration
    private let clock: any Clock<Duration>
    private let now: @Sendable () -> Date
    private let counts: GPSDCounts
    private let report: @Sendable (LocationEvent) -> Void
    private let isOver = Atomic<Bool>(false)
    private let task = Mutex<Task<Void, Never>?>(nil)

    init(
        _ configuration: GPSDLocationAdapter.Configuration,
        _ clock: any Clock<Duration>,
        _ now: @escaping @Sendable () -> Date,
        _ counts: GPSDCounts,
        _ report: @escaping @Sendable (LocationEvent) -> Void
    ) {
        self.configuration = configuration
        self.clock = clock
        self.now = now
        self.counts = counts
        self.report = report
    }

    func start() {
        task.withLock { $0 = Task { [self] in await run() } }
    }

    func end() {
        isOver.store(true, ordering: .releasing)
        task.withLock { $0.take() }?.cancel()
    }

    private func run() async {
        var random = SystemRandomNumberGenerator()
        var (attempt, tryNumber) = (0, 0)
        while !Task.isCancelled {
            let session = GPSDSession(
                configuration,
                clock,
                now,
                counts,
                tryNumber: tryNumber
            ) { [self] event in
                tell(event)
            }
            tryNumber += 1
            let failure = await session.run()
            guard !Task.isCancelled else { return }
            tell(.failure(failure))
            guard failure.isTransient else { return }
            attempt = session.hasReported ? 1 : min(attempt + 1, 64)
            let pause = configuration.reconnection.delay(before: attempt, using: &random)
            guard (try? await clock.sleep(for: pause)) != nil else { return }
        }
    }

    private func tell(_ event: LocationEvent) {
        if !isOver.load(ordering: .acquiring) { report(event) }
    }
}
#endif
