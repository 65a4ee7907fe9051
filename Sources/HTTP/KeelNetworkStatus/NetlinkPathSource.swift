#if os(Linux)
#if canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
import Synchronization

/// A source based on netlink, for Linux (rtnetlink(7)).
///
/// The path is satisfied if a default route leads through an interface that is up and running. Each observation has its
/// own thread, which sleeps until the kernel reports a change and then reads all interfaces and routes again: the
/// routes of an interface that goes down disappear without notice.
public struct NetlinkPathSource: NetworkPathSource {
    /// Creates the source.
    public init() {}

    public func observe(
        _ report: @escaping @Sendable (NetworkPath) -> Void
    ) -> @Sendable () -> Void {
        // The socket belongs to the network namespace of the thread that opens it, which is the caller's.
        guard let watch = NetlinkWatch(report) else {
            report(NetworkPath(.unknown))
            return {}
        }
        guard watch.start() else {
            report(NetworkPath(.unknown))
            return {}
        }
        return { watch.stop() }
    }
}

/// One observation: a netlink socket, a pipe that wakes its thread, and the thread.
///
/// The thread owns and closes the socket and the reading end of the pipe; `stop` owns and closes the writing end.
private final class NetlinkWatch: Sendable {
    private let socket: Int32
    private let wakeUp: Int32
    private let stopper: Mutex<Int32?>
    private let report: @Sendable (NetworkPath) -> Void

    init?(_ report: @escaping @Sendable (NetworkPath) -> Void) {
        // AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE: the C library's module map has neither these flags as
        // numbers nor the address type.
        let socket = Self.open()
        guard socket >= 0 else { return nil }
        var ends: [Int32] = [0, 0]
        guard pipe(&ends) == 0 else {
            close(socket)
            return nil
        }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        self.socket = socket
        wakeUp = ends[0]
        stopper = Mutex(ends[1])
        self.report = report
    }

    private static func open() -> Int32 {
        #if canImport(Glibc)
        let descriptor = Glibc.socket(16, 0o2_000_003, 0)
        #else
        let descriptor = Musl.socket(16, 0o2_000_003, 0)
        #endif
        guard descriptor >= 0 else { return -1 }
        // struct sockaddr_nl: family, padding, port (0: the kernel chooses), groups: links, and addresses and routes of
        // IPv4 and IPv6.
        let groups: UInt32 = 0x1 | 0x10 | 0x40 | 0x100 | 0x400
        let address: [UInt32] = [UInt32(UInt16(16).littleEndian), 0, groups]
        let isBound = address.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                bind(descriptor, pointer.baseAddress, 12) == 0
            }
        }
        guard isBound else {
            close(descriptor)
            return -1
        }
        return descriptor
    }

    func start() -> Bool {
        var thread = pthread_t()
        let retained = Unmanaged.passRetained(self)
        let isStarted =
            pthread_create(
                &thread,
                nil,
                { argument in
                    guard let argument else { return nil }
                    Unmanaged<NetlinkWatch>.fromOpaque(argument).takeRetainedValue().run()
                    return nil
                },
                retained.toOpaque()
            ) == 0
        guard isStarted else {
            retained.release()
            stop()
            finish()
            return false
        }
        pthread_detach(thread)
        return true
    }

    /// Wakes the thread by closing the pipe, which ends the thread.
    func stop() {
        guard let end = stopper.withLock({ $0.take() }) else { return }
        close(end)
    }

    private func finish() {
        close(socket)
        close(wakeUp)
    }

    private func run() {
        defer { finish() }
        var request: UInt32 = 0
        var last: NetworkPath?
        while let reading = readPath(&request) {
            if reading.path != last { report(reading.path) }
            last = reading.path
            // The answers may miss a change that was announced while they arrived.
            guard reading.hasChanged ? pause(milliseconds: 20) : waitForChange() else { return }
        }
    }

    /// Sleeps until the kernel announces a change; returns false if the observation has ended.
    private func waitForChange() -> Bool {
        guard wait(-1) else { return false }
        // Changes come in groups: an interface that goes up brings addresses and routes along.
        guard pause(milliseconds: 20) else { return false }
        var bytes: [UInt8] = []
        while receive(&bytes, mayWait: false) {}
        return true
    }

    /// Reads all interfaces and routes; returns nil if the observation has ended.
    private func readPath(
        _ request: inout UInt32
    ) -> (path: NetworkPath, hasChanged: Bool)? {
        // A change in the meantime invalidates an answer; give up if the system never settles.
        for _ in 0..<20 {
            var links: [NetlinkLink] = []
            var routes: [[Int32]] = []
            var isValid = true
            var hasChanged = false
            for (type, family) in [(18, 0), (26, 2), (26, 10)] as [(UInt16, UInt8)] {
                request = request == .max ? 1 : request + 1
                guard let answer = dump(type, family, request) else { return nil }
                for message in answer {
                    switch message {
                    case .link(let link): links.append(link)
                    case .defaultRoute(let interfaces): routes.append(interfaces)
                    case .invalid: isValid = false
                    case .change: hasChanged = true
                    case .done: break
                    }
                }
            }
            if isValid { return (.made(of: links, routes: routes), hasChanged) }
            guard pause(milliseconds: 50) else { return nil }
        }
        return (NetworkPath(.unknown), false)
    }

    /// Requests all entries of one type; returns nil if the observation has ended.
    private func dump(_ type: UInt16, _ family: UInt8, _ number: UInt32) -> [NetlinkMessage]? {
        var bytes: [UInt8] = []
        func append<Number: FixedWidthInteger>(_ value: Number) {
            withUnsafeBytes(of: value) { bytes.append(contentsOf: $0) }
        }
        // The header of a request with the flags "request" and "dump", and an empty ifinfomsg; the one for routes is
        // shorter.
        append(UInt32(32))
        append(type)
        append(UInt16(0x301))
        append(number)
        append(UInt32(0))
        bytes.append(family)
        bytes += [UInt8](repeating: 0, count: 15)
        guard send(socket, bytes, bytes.count, 0) == bytes.count else { return [.invalid] }
        var messages: [NetlinkMessage] = []
        var datagram: [UInt8] = []
        while true {
            guard wait(-1) else { return nil }
            guard receive(&datagram, mayWait: true) else { return [.invalid] }
            let read = NetlinkMessage.read(datagram, answering: number)
            messages += read
            if read.contains(where: { $0 == .done(number) || $0 == .invalid }) { return messages }
        }
    }

    /// Reads one datagram; returns false if there is none, or if some were lost.
    private func receive(_ bytes: inout [UInt8], mayWait: Bool) -> Bool {
        let space = 1 << 16
        let flags = mayWait ? 0 : 0x40
        var count = 0
        bytes = [UInt8](unsafeUninitializedCapacity: space) { buffer, initialized in
            repeat {
                count = recv(socket, buffer.baseAddress, space, Int32(flags))
            } while count < 0 && errno == EINTR
            initialized = max(0, count)
        }
        return count > 0
    }

    /// Sleeps until the socket is readable; returns false if the observation has ended.
    private func wait(_ milliseconds: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: socket, events: Int16(POLLIN), revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, milliseconds) < 0, errno == EINTR {}
        return descriptors[1].revents == 0
    }

    /// Sleeps for the given time; returns false if the observation has ended.
    private func pause(milliseconds: Int32) -> Bool {
        var descriptor = pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0)
        while poll(&descriptor, 1, milliseconds) < 0, errno == EINTR {}
        return descriptor.revents == 0
    }
}
#endif
