import KeelNetworkStatus
import KeelTestKit
import Synchronization
import Testing

@Suite("Network status")
struct NetworkStatusTests {
    private let wifi = NetworkPath(.satisfied, interfaces: [NetworkInterface("wlan0", kind: .wifi)])
    private let mobile = NetworkPath(
        .satisfied,
        isExpensive: true,
        interfaces: [NetworkInterface("wwan0", kind: .cellular)]
    )

    @Test("Readers receive the current path, then each change without repetitions")
    func tellsChanges() async {
        let network = ScriptedNetworkPathSource(wifi)
        let status = NetworkStatus(network)
        var paths = status.paths.makeAsyncIterator()
        #expect(await paths.next() == wifi)
        network.set(mobile)
        #expect(await paths.next() == mobile)
        #expect(status.current == mobile)
        network.set(mobile)
        network.set(NetworkPath(.unsatisfied))
        #expect(await paths.next() == NetworkPath(.unsatisfied))
    }

    @Test("A slow reader receives only the newest path")
    func coalesces() async {
        let network = ScriptedNetworkPathSource(NetworkPath(.unsatisfied))
        var paths = NetworkStatus(network).paths.makeAsyncIterator()
        network.set(wifi)
        network.set(NetworkPath(.unsatisfied))
        network.set(mobile)
        #expect(await paths.next() == mobile)
    }

    @Test("All readers share one observation, which ends with the last reader")
    func watchesWhileRead() async {
        let network = ScriptedNetworkPathSource(wifi)
        let status = NetworkStatus(network)
        #expect(network.observationCount == 0)
        #expect(status.current.status == .unknown)
        for round in 1...2 {
            let readers = (0..<3).map { _ in
                let paths = status.paths
                return Task { for await _ in paths {} }
            }
            #expect(network.observerCount == 1)
            #expect(network.observationCount == round)
            for reader in readers { reader.cancel() }
            for reader in readers { await reader.value }
            #expect(network.observerCount == 0)
            #expect(status.current.status == .unknown)
        }
    }

    @Test("Waiting ends once the path is satisfied, and at once if the path is unknown")
    func waits() async {
        for path in [wifi, NetworkPath(.unknown)] {
            let status = NetworkStatus(ScriptedNetworkPathSource(path))
            #expect(await status.waitUntilSatisfied())
        }
        let network = ScriptedNetworkPathSource(NetworkPath(.unsatisfied))
        let clock = TestClock()
        let wait = Task {
            await NetworkStatus(network).waitUntilSatisfied(timeout: .seconds(10), clock: clock)
        }
        await clock.waitForSleepers()
        network.set(wifi)
        #expect(await wait.value)
        #expect(network.observerCount == 0)
    }

    @Test("Waiting ends after its timeout and when its task is canceled")
    func endsWaiting() async {
        let network = ScriptedNetworkPathSource(NetworkPath(.unsatisfied))
        let status = NetworkStatus(network)
        let clock = TestClock()
        let timed = Task { await status.waitUntilSatisfied(timeout: .seconds(10), clock: clock) }
        await clock.advance(by: .seconds(10), onceAsleep: 1)
        #expect(await timed.value == false)
        let cancelled = Task { await status.waitUntilSatisfied() }
        cancelled.cancel()
        #expect(await cancelled.value == false)
        #expect(network.observerCount == 0)
    }

    @Test("A report that arrives after the last reader left is ignored")
    func ignoresLateReports() async {
        let network = LateSource()
        let status = NetworkStatus(network)
        let reader = Task { [paths = status.paths] in for await _ in paths {} }
        reader.cancel()
        await reader.value
        network.report(NetworkPath(.unsatisfied))
        #expect(status.current.status == .unknown)
        var paths = status.paths.makeAsyncIterator()
        #expect(await paths.next() == NetworkPath(.satisfied))
    }
}

/// A source whose ended observations keep reporting.
private final class LateSource: NetworkPathSource {
    private let reports = Mutex<[@Sendable (NetworkPath) -> Void]>([])

    func report(_ path: NetworkPath) {
        for report in reports.withLock({ $0 }) { report(path) }
    }

    func observe(_ report: @escaping @Sendable (NetworkPath) -> Void) -> @Sendable () -> Void {
        reports.withLock { $0.append(report) }
        report(NetworkPath(.satisfied))
        return {}
    }
}
