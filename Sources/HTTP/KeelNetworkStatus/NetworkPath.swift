/// The known properties of this device's path to the network.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a path to the network.
    public enum Status: Sendable, Hashable {
        /// There is a path; that does not mean that a particular server is reachable.
        case satisfied
        /// There is no path.
        case unsatisfied
        /// The system does not report it.
        case unknown
    }

    /// Whether there is a path to the network.
    public var status: Status

    /// Whether the path is charged by volume, if known.
    public var isExpensive: Bool?

    /// Whether the user wants to save data, if known.
    public var isConstrained: Bool?

    /// The interfaces of the path, the preferred one first if known.
    public var interfaces: [NetworkInterface]

    /// Creates a path.
    public init(
        _ status: Status,
        isExpensive: Bool? = nil,
        isConstrained: Bool? = nil,
        interfaces: [NetworkInterface] = []
    ) {
        self.status = status
        self.isExpensive = isExpensive
        self.isConstrained = isConstrained
        self.interfaces = interfaces
    }
}

/// A network interface of this device.
public struct NetworkInterface: Sendable, Hashable {
    /// The kinds of interfaces; later versions may add more.
    public enum Kind: Sendable, Hashable {
        /// A wireless local network.
        case wifi
        /// A wired network.
        case wired
        /// A mobile network.
        case cellular
        /// The device itself.
        case loopback
        /// A tunnel, a bridge, or a kind that this version does not know.
        case other
    }

    /// The name, such as `en0`.
    public var name: String

    /// The kind of the interface.
    public var kind: Kind

    /// Creates a description of an interface.
    public init(_ name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}
