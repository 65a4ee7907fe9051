import KeelCore
import Synchronization

/// The current network path of this device, and its changes.
///
/// ```swift
/// let network = NetworkStatus()
/// for await path in network.paths { showBanner(path.status == .unsatisfied) }
/// ```
///
/// The status is a hint: a satisfied path may lead to a login page, and only a request proves that a server is
/// reachable. Use it to wait after a failure, not to avoid trying.
///
/// The system is observed only while a sequence of ``paths`` exists.
public final class NetworkStatus: Sendable {
    private let source: any NetworkPathSource
    private let broadcast: StateBroadcast<NetworkPath?>
    private let observation = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates a status based on a source.
    public init(_ source: any NetworkPathSource) {
        self.source = source
        broadcast = StateBroadcast(nil)
    }

    /// Creates a status with the system's source: `NWPathMonitor` on Apple's platforms, netlink on Linux.
    public convenience init() {
        #if canImport(Network)
        self.init(NWNetworkPathSource())
        #elseif os(Linux)
        self.init(NetlinkPathSource())
        #else
        self.init(UnknownNetworkPathSource())
        #endif
    }

    /// The path last reported; unknown while no sequence of ``paths`` exists.
    public var current: NetworkPath { broadcast.value ?? NetworkPath(.unknown) }

    /// The current path and each later one; a slow reader gets only the latest.
    public var paths: NetworkPaths {
        let stream = broadcast.watch { [weak self] in self?.matchObservation() }
        matchObservation()
        return NetworkPaths(status: self, stream: stream)
    }

    /// Waits until there is a path to the network, for use before a retry.
    ///
    /// It returns with the first report if there is a path or the system does not know.
    ///
    /// - Returns: Whether a retry is worthwhile; false if the timeout has passed or the task was canceled.
    public func waitUntilSatisfied(
        timeout: Duration? = nil,
        clock: any Clock<Duration> = ContinuousClock()
    ) async -> Bool {
        let paths = paths
        return await withTaskGroup(of: Bool.self) { group in
            group.addTask {
                for await path in paths where path.status != .unsatisfied { return true }
                return false
            }
            if let timeout {
                group.addTask {
                    try? await clock.sleep(for: timeout)
                    return false
                }
            }
            defer { group.cancelAll() }
            return await group.next() ?? false
        }
    }

    private func matchObservation() {
        // Under the lock, so that the later of two concurrent changes wins.
        observation.withLock { observation in
            if broadcast.isWatched, observation == nil {
                let gate = ReportGate()
                let end = source.observe { [weak broadcast] path in
                    gate.pass { broadcast?.set(path) }
                }
                observation = {
                    gate.close()
                    end()
                }
            } else if !broadcast.isWatched, let end = observation.take() {
                end()
                broadcast.set(nil)
            }
        }
    }

    deinit {
        observation.withLock { $0.take() }?()
    }
}

/// A gate that blocks reports which a source makes after the observation has ended.
private final class ReportGate: Sendable {
    private let isClosed = Mutex(false)

    func pass(_ report: () -> Void) {
        isClosed.withLock { isClosed in if !isClosed { report() } }
    }

    func close() { isClosed.withLock { $0 = true } }
}

/// The network paths of this device, as they change.
public struct NetworkPaths: AsyncSequence, Sendable {
    public typealias Element = NetworkPath
    public typealias Failure = Never

    // Keeps the observation alive for as long as the sequence is read.
    private let status: NetworkStatus
    private let stream: AsyncStream<NetworkPath?>

    init(status: NetworkStatus, stream: AsyncStream<NetworkPath?>) {
        self.status = status
        self.stream = stream
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(status: status, base: stream.makeAsyncIterator())
    }

    /// An iterator over the paths.
    public struct Iterator: AsyncIteratorProtocol {
        private let status: NetworkStatus
        private var base: AsyncStream<NetworkPath?>.Iterator

        fileprivate init(status: NetworkStatus, base: AsyncStream<NetworkPath?>.Iterator) {
            self.status = status
            self.base = base
        }

        public mutating func next(
            isolation actor: isolated (any Actor)? = #isolation
        ) async -> NetworkPath? {
            // Nil means that nothing has been reported yet.
            while let path = await base.next(isolation: actor) {
                if let path { return path }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension NetworkPaths.Iterator: Sendable {}
