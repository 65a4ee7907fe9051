import Synchronization

/// Whether this device has a way to the network, and when that changes.
///
/// ```swift
/// let network = NetworkStatus()
/// for await path in network.paths { showBanner(path.status == .unsatisfied) }
/// ```
///
/// It is a hint, not a promise: a path that is satisfied may lead to a login page, and a request
/// is the only proof that a server can be reached. Use it to wait after a failure, not to keep from
/// trying.
///
/// The system is watched only while somebody reads ``paths``.
public final class NetworkStatus: Sendable {
    private let source: any NetworkPathSource
    private let broadcast: StateBroadcast<NetworkPath?>
    private let observation = Mutex<(@Sendable () -> Void)?>(nil)

    /// Creates a status over a source.
    public init(_ source: any NetworkPathSource) {
        self.source = source
        broadcast = StateBroadcast(nil)
    }

    /// Creates a status over what the system offers: `NWPathMonitor` on Apple's systems, netlink
    /// on Linux.
    public convenience init() {
        #if canImport(Network)
        self.init(NWNetworkPathSource())
        #elseif os(Linux)
        self.init(NetlinkPathSource())
        #else
        self.init(UnknownNetworkPathSource())
        #endif
    }

    /// The path as it was last reported; unknown while nobody reads ``paths``.
    public var current: NetworkPath { broadcast.value ?? NetworkPath(.unknown) }

    /// The path now and after each change; a slow reader gets the newest.
    public var paths: NetworkPaths {
        let stream = broadcast.watch { [weak self] in self?.matchObservation() }
        matchObservation()
        return NetworkPaths(status: self, stream: stream)
    }

    /// Waits until there is a way to the network.
    ///
    /// Call it before a retry: it returns at once where there is a way or the system does not tell.
    ///
    /// - Parameters:
    ///   - timeout: How long to wait at the most; nil is no limit.
    ///   - clock: The clock that the time is measured on.
    /// - Returns: Whether it is worth trying; false after the time is over or the task cancelled.
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

    /// Begins or ends the observation, according to whether somebody watches.
    private func matchObservation() {
        // In the lock, so that of two changes at once the later one decides.
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

/// Keeps reports away that a source makes although nobody observes any more.
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

    // Keeps the observation alive for as long as somebody reads.
    private let status: NetworkStatus
    private let stream: AsyncStream<NetworkPath?>

    init(status: NetworkStatus, stream: AsyncStream<NetworkPath?>) {
        self.status = status
        self.stream = stream
    }

    public func makeAsyncIterator() -> Iterator {
        Iterator(status: status, base: stream.makeAsyncIterator())
    }

    /// Reads the paths one by one.
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
            // Nothing is known before the first report.
            while let path = await base.next(isolation: actor) {
                if let path { return path }
            }
            return nil
        }
    }
}

@available(*, unavailable)
extension NetworkPaths.Iterator: Sendable {}
