#if canImport(Network)
import Dispatch
import Network

/// A source based on `NWPathMonitor`, for Apple's platforms.
public struct NWNetworkPathSource: NetworkPathSource {
    /// Creates the source.
    public init() {}

    public func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void {
        let monitor = NWPathMonitor()
        monitor.pathUpdateHandler = { report(NetworkPath($0)) }
        monitor.start(queue: DispatchQueue(label: "keel.network-status"))
        return { monitor.cancel() }
    }
}

extension NetworkPath {
    fileprivate init(_ path: NWPath) {
        self.init(
            // A path that requires a connection first, such as a VPN on demand, opens when it is used.
            path.status == .unsatisfied ? .unsatisfied : .satisfied,
            isExpensive: path.isExpensive,
            isConstrained: path.isConstrained,
            interfaces: path.availableInterfaces.map { NetworkInterface($0) }
        )
    }
}

extension NetworkInterface {
    fileprivate init(_ interface: NWInterface) {
        let kind: Kind =
            switch interface.type {
            case .wifi: .wifi
            case .wiredEthernet: .wired
            case .cellular: .cellular
            case .loopback: .loopback
            default: .other
            }
        self.init(interface.name, kind: kind)
    }
}
#endif
