public import Dispatch
internal import Synchronization

// The part of Apple's Network framework that the source of network paths needs, over a device controlled by tests. A
// monitor reports the device's state when it starts and after each change; the stand-in does not show that reports
// arrive on the given queue.

/// A network interface.
public struct NWInterface: Hashable, Sendable {
    public enum InterfaceType: Sendable {
        case other
        case wifi
        case cellular
        case wiredEthernet
        case loopback
    }

    public let type: InterfaceType
    public let name: String

    public init(_ name: String, _ type: InterfaceType) {
        self.name = name
        self.type = type
    }
}

/// The state of the network.
public struct NWPath: Equatable, Sendable {
    public enum Status: Sendable {
        case satisfied
        case unsatisfied
        case requiresConnection
    }

    public var status: Status
    public var isExpensive: Bool
    public var isConstrained: Bool
    public var availableInterfaces: [NWInterface]

    public init(
        _ status: Status,
        isExpensive: Bool = false,
        isConstrained: Bool = false,
        _ interfaces: [NWInterface] = []
    ) {
        self.status = status
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        availableInterfaces = interfaces
    }
}

/// Reports the state of the network until it is canceled.
public final class NWPathMonitor: Sendable {
    private let handler = Mutex<(@Sendable (NWPath) -> Void)?>(nil)

    public init() {}

    public var pathUpdateHandler: (@Sendable (NWPath) -> Void)? {
        get { handler.withLock { $0 } }
        set { handler.withLock { $0 = newValue } }
    }

    public func start(queue: DispatchQueue) { NetworkDevice.shared.add(self) }

    public func cancel() { NetworkDevice.shared.remove(self) }
}

/// The simulated device, which Apple's module does not have.
public final class NetworkDevice: Sendable {
    public static let shared = NetworkDevice()

    private struct State {
        var path = NWPath(.unsatisfied)
        var monitors: [NWPathMonitor] = []
    }

    private let state = Mutex(State())

    /// The number of running monitors.
    public var monitorCount: Int { state.withLock { $0.monitors.count } }

    /// Changes the network.
    public func move(to path: NWPath) {
        let monitors = state.withLock { state in
            state.path = path
            return state.monitors
        }
        for monitor in monitors { monitor.pathUpdateHandler?(path) }
    }

    func add(_ monitor: NWPathMonitor) {
        let path = state.withLock { state in
            state.monitors.append(monitor)
            return state.path
        }
        monitor.pathUpdateHandler?(path)
    }

    func remove(_ monitor: NWPathMonitor) {
        state.withLock { state in state.monitors.removeAll { $0 === monitor } }
    }
}
