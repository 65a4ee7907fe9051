/// The known properties of the way from this device to others.
public struct NetworkPath: Sendable, Hashable {
    /// Whether there is a way.
    public enum Status: Sendable, Hashable {
        /// There is a way out; whether a certain server can be reached is another matter.
        case satisfied
        /// There is none.
        case unsatisfied
        /// The system does not tell.
        case unknown
    }

    /// Whether there is a way.
    public var status: Status

    /// Whether its use costs money by volume, where that is known.
    public var isExpensive: Bool?

    /// Whether the user wants little data to be used, where that is known.
    public var isConstrained: Bool?

    /// The interfaces that the way leads through, the preferred one first where that is known.
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
        /// A cable.
        case wired
        /// A mobile network.
        case cellular
        /// The device itself.
        case loopback
        /// A tunnel, a bridge, or something that this version does not know.
        case other
    }

    /// Its name, such as `en0`.
    public var name: String

    /// The kind of the interface.
    public var kind: Kind

    /// Creates a description of an interface.
    public init(_ name: String, kind: Kind) {
        self.name = name
        self.kind = kind
    }
}
