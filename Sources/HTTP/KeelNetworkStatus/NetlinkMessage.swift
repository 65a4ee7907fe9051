/// A message of Linux's routing netlink about network paths (rtnetlink(7)).
///
/// Parsing is pure and uses the byte order of this machine.
enum NetlinkMessage: Sendable, Hashable {
    case link(NetlinkLink)
    case defaultRoute(interfaces: [Int32])
    /// A notification that an interface, an address or a route has changed.
    case change
    /// The end of the answer to the request with this number.
    case done(UInt32)
    /// An answer that a change has interrupted, or a refusal.
    case invalid
}

struct NetlinkLink: Sendable, Hashable {
    var index: Int32
    var name: String
    var flags: UInt32

    /// Whether the interface is enabled and has its cable, its radio link or its peer.
    var isRunning: Bool { flags & 0x1 != 0 && flags & 0x40 != 0 }
    var isLoopback: Bool { flags & 0x8 != 0 }

    /// A guess from the name, by the conventions of systemd and the kernel.
    var kind: NetworkInterface.Kind {
        if isLoopback { return .loopback }
        for (prefix, kind) in Self.prefixes where name.hasPrefix(prefix) { return kind }
        return .other
    }

    private static let prefixes: [(String, NetworkInterface.Kind)] = [
        ("wl", .wifi), ("ww", .cellular), ("rmnet", .cellular), ("en", .wired), ("eth", .wired),
    ]
}

extension NetlinkMessage {
    /// Parses the messages of one datagram.
    ///
    /// Answers carry the number of the request in `answering`; everything else is a notification and says only that
    /// something has changed. A notification of what another process did carries the number of that process's request,
    /// which may be the same.
    static func read(_ bytes: [UInt8], answering request: UInt32) -> [NetlinkMessage] {
        var messages: [NetlinkMessage] = []
        var rest = bytes[...]
        while let length = rest.number(at: 0, as: UInt32.self), length >= 16,
            Int(length) <= rest.count
        {
            let message = rest.prefix(Int(length))
            if let read = read(message, answering: request) { messages.append(read) }
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return messages
    }

    private static func read(
        _ message: ArraySlice<UInt8>,
        answering request: UInt32
    ) -> NetlinkMessage? {
        let type = message.number(at: 4, as: UInt16.self) ?? 0
        let flags = message.number(at: 6, as: UInt16.self) ?? 0
        let number = message.number(at: 8, as: UInt32.self) ?? 0
        // Answers are parts of a list (NLM_F_MULTI) or errors.
        guard number == request, flags & 0x2 != 0 || type == 2 else { return .change }
        let body = message.dropFirst(16)
        switch type {
        case 2: return .invalid
        case 3: return flags & 0x10 != 0 ? .invalid : .done(number)
        case 16: return link(body)
        case 24: return route(body)
        default: return nil
        }
    }

    private static func link(_ body: ArraySlice<UInt8>) -> NetlinkMessage? {
        guard let index = body.number(at: 4, as: Int32.self),
            let flags = body.number(at: 8, as: UInt32.self)
        else { return nil }
        let name = body.dropFirst(16).attributes()[3] ?? []
        let text = String(decoding: name.prefix { $0 != 0 }, as: UTF8.self)
        return .link(NetlinkLink(index: index, name: text, flags: flags))
    }

    private static func route(_ body: ArraySlice<UInt8>) -> NetlinkMessage? {
        // A destination of length 0, an ordinary route (not "unreachable"), not a cached copy, and not in the table of
        // local addresses.
        guard body.number(at: 1, as: UInt8.self) == 0, body.number(at: 7, as: UInt8.self) == 1,
            body.number(at: 8, as: UInt32.self).map({ $0 & 0x200 == 0 }) == true
        else { return nil }
        let attributes = body.dropFirst(12).attributes()
        let table =
            attributes[15]?.number(at: 0, as: UInt32.self)
            ?? UInt32(body.number(at: 4, as: UInt8.self) ?? 0)
        guard table != 255 else { return nil }
        var interfaces: [Int32] = []
        if let index = attributes[4]?.number(at: 0, as: Int32.self) { interfaces.append(index) }
        // A multipath route: each hop has a length, flags and its interface.
        var hops = attributes[9] ?? []
        while let length = hops.number(at: 0, as: UInt16.self), length >= 8,
            let index = hops.number(at: 4, as: Int32.self)
        {
            interfaces.append(index)
            hops = hops.dropFirst((Int(length) + 3) & ~3)
        }
        return .defaultRoute(interfaces: interfaces)
    }
}

extension NetworkPath {
    static func made(of links: [NetlinkLink], routes: [[Int32]]) -> NetworkPath {
        var interfaces: [NetworkInterface] = []
        for index in routes.joined() {
            guard let link = links.first(where: { $0.index == index }), link.isRunning,
                !link.isLoopback
            else { continue }
            let interface = NetworkInterface(link.name, kind: link.kind)
            if !interfaces.contains(interface) { interfaces.append(interface) }
        }
        guard let first = interfaces.first else { return NetworkPath(.unsatisfied) }
        return NetworkPath(
            .satisfied,
            isExpensive: first.kind == .cellular ? true : nil,
            interfaces: interfaces
        )
    }
}

extension ArraySlice<UInt8> {
    /// Returns the number at an offset, in this machine's byte order; nil beyond the end.
    fileprivate func number<Number: FixedWidthInteger>(
        at offset: Int,
        as type: Number.Type
    ) -> Number? {
        guard offset + MemoryLayout<Number>.size <= count else { return nil }
        return withUnsafeBytes { $0.loadUnaligned(fromByteOffset: offset, as: type) }
    }

    fileprivate func attributes() -> [UInt16: ArraySlice<UInt8>] {
        var values: [UInt16: ArraySlice<UInt8>] = [:]
        var rest = self
        while let length = rest.number(at: 0, as: UInt16.self), length >= 4,
            Int(length) <= rest.count, let type = rest.number(at: 2, as: UInt16.self)
        {
            // The two highest bits describe the encoding of the value, not its type.
            values[type & 0x3FFF] = rest.prefix(Int(length)).dropFirst(4)
            rest = rest.dropFirst((Int(length) + 3) & ~3)
        }
        return values
    }
}
