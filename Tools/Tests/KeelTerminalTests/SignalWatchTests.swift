#if os(Linux) || os(macOS)
import Foundation
import KeelTerminal
import Synchronization
import Testing

@Suite("Signals", .serialized)
struct SignalWatchTests {
    /// The signals that a handler has counted; handlers capture nothing.
    private static let isOver = Atomic(false)
    private static let arrivals = Atomic(0)

    @Test("An ignored signal is known as such, and a default one is not")
    func ignored() {
        let previous = signal(SIGUSR2, SIG_IGN)
        defer { signal(SIGUSR2, previous) }
        #expect(SignalWatch.isIgnored(SIGUSR2))
        signal(SIGUSR2, SIG_DFL)
        #expect(!SignalWatch.isIgnored(SIGUSR2))
    }

    @Test("A line that ends leaves a handler that has replaced its own")
    func replaced() {
        let previous = signal(SIGUSR2, SIG_DFL)
        defer { signal(SIGUSR2, previous) }
        let ended = CaughtSignals([SIGUSR2])
        ended.restore()
        let isDefault = signal(SIGUSR2, SIG_DFL) == nil
        #expect(isDefault)
        let replaced = CaughtSignals([SIGUSR2])
        // As Dispatch does with the first watch of a signal.
        signal(SIGUSR2, SIG_IGN)
        replaced.restore()
        #expect(SignalWatch.isIgnored(SIGUSR2))
    }

    @Test("A signal right after the beginning of a watch is noticed", .timeLimit(.minutes(1)))
    func early() async {
        // No other test here watches this signal: Dispatch sets its handler only with the first watch. It stays set.
        let (arrivals, arrival) = AsyncStream.makeStream(of: Void.self)
        let watch = SignalWatch(SIGURG) { arrival.yield() }
        kill(getpid(), SIGURG)
        for await _ in arrivals { break }
        #expect(!Task.isCancelled)
        withExtendedLifetime(watch) {}
    }

    @Test("No signal is lost while another thread looks at its handler")
    func nothingLost() async {
        let previous = signal(SIGUSR1) { _ in
            SignalWatchTests.arrivals.wrappingAdd(1, ordering: .relaxed)
        }
        defer { signal(SIGUSR1, previous) }
        let before = Self.arrivals.load(ordering: .relaxed)
        Self.isOver.store(false, ordering: .releasing)
        await withTaskGroup(of: Void.self) { group in
            group.addTask {
                while !Self.isOver.load(ordering: .acquiring) { _ = SignalWatch.isIgnored(SIGUSR1) }
            }
            await withCheckedContinuation { continuation in
                // A thread handles its own signals at once, but those of tasks block all of them.
                let thread = Thread {
                    var signals = sigset_t()
                    sigemptyset(&signals)
                    sigaddset(&signals, SIGUSR1)
                    pthread_sigmask(SIG_UNBLOCK, &signals, nil)
                    for _ in 0..<20_000 { raise(SIGUSR1) }
                    // Here, because the other task may hold the only thread that could resume this one.
                    Self.isOver.store(true, ordering: .releasing)
                    continuation.resume()
                }
                thread.start()
            }
        }
        #expect(Self.arrivals.load(ordering: .relaxed) - before == 20_000)
    }
}
#endif
