#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)

/// System calls on sockets, and the differences between C libraries.
enum POSIXSocket {
    struct Address: Sendable {
        let family: Int32
        let bytes: [UInt8]
    }

    enum Connecting {
        case connected(Int32)
        case failed(GPSDConnection.SystemError)
        case woken
    }

    /// Resolves a host name, which may block.
    static func addresses(
        of host: String,
        _ port: UInt16
    ) -> Result<[Address], GPSDConnection.SystemError> {
        var hints = addrinfo()
        hints.ai_socktype = stream
        var list: UnsafeMutablePointer<addrinfo>?
        let status = getaddrinfo(host, String(port), &hints, &list)
        guard status == 0 else { return .failure(.init(resolving: status)) }
        defer { freeaddrinfo(list) }
        var addresses: [Address] = []
        var next = list
        while let entry = next?.pointee {
            if let address = entry.ai_addr {
                let bytes = UnsafeRawBufferPointer(start: address, count: Int(entry.ai_addrlen))
                addresses.append(Address(family: entry.ai_family, bytes: Array(bytes)))
            }
            next = entry.ai_next
        }
        return .success(addresses)
    }

    /// Creates a nonblocking socket, and connects it unless the pipe wakes the call.
    static func connect(to address: Address, orWakeBy wakeUp: Int32) -> Connecting {
        let descriptor = socket(address.family, stream, 0)
        guard descriptor >= 0 else { return .failed(.init("socket")) }
        _ = fcntl(descriptor, F_SETFD, FD_CLOEXEC)
        _ = fcntl(descriptor, F_SETFL, O_NONBLOCK)
        #if canImport(Darwin)
        var yes: Int32 = 1
        setsockopt(descriptor, SOL_SOCKET, SO_NOSIGPIPE, &yes, 4)
        #endif
        let status = address.bytes.withUnsafeBytes { bytes in
            bytes.withMemoryRebound(to: sockaddr.self) { pointer in
                begin(descriptor, pointer.baseAddress, socklen_t(bytes.count))
            }
        }
        if status != 0, errno != EINPROGRESS {
            defer { close(descriptor) }
            return .failed(.init("connect"))
        }
        guard wait(descriptor, Int16(POLLOUT), orWakeBy: wakeUp) else {
            close(descriptor)
            return .woken
        }
        var number: Int32 = 0
        var size = socklen_t(4)
        guard getsockopt(descriptor, SOL_SOCKET, SO_ERROR, &number, &size) == 0, number == 0 else {
            close(descriptor)
            return .failed(.init("connect", number))
        }
        return .connected(descriptor)
    }

    /// Blocks until the socket is ready; returns false if the pipe wakes the call.
    static func wait(_ descriptor: Int32, _ events: Int16, orWakeBy wakeUp: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0, errno == EINTR {}
        return descriptors[1].revents == 0
    }

    /// Sends without blocking, and without a signal if the peer is gone.
    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        // MSG_NOSIGNAL, whose declaration differs between C libraries.
        let flags: Int32 = 0x4000
        #endif
        #if canImport(Darwin)
        return Darwin.send(descriptor, bytes, bytes.count, flags) == bytes.count
        #elseif canImport(Glibc)
        return Glibc.send(descriptor, bytes, bytes.count, flags) == bytes.count
        #else
        return Musl.send(descriptor, bytes, bytes.count, flags) == bytes.count
        #endif
    }

    /// Runs a closure on a new thread; returns false if none could be created.
    static func detachThread(_ body: @escaping @Sendable () -> Void) -> Bool {
        let box = Unmanaged.passRetained(ThreadBody(body))
        #if canImport(Darwin)
        var thread: pthread_t?
        #else
        var thread = pthread_t()
        #endif
        let status = pthread_create(
            &thread,
            nil,
            { argument in
                #if canImport(Darwin)
                Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
                #else
                guard let argument else { return nil }
                Unmanaged<ThreadBody>.fromOpaque(argument).takeRetainedValue().run()
                #endif
                return nil
            },
            box.toOpaque()
        )
        guard status == 0 else {
            box.release()
            return false
        }
        #if canImport(Darwin)
        if let thread { pthread_detach(thread) }
        #else
        pthread_detach(thread)
        #endif
        return true
    }

    private final class ThreadBody {
        let run: @Sendable () -> Void

        init(_ run: @escaping @Sendable () -> Void) { self.run = run }
    }

    /// SOCK_STREAM, which has its own type in glibc's header.
    private static var stream: Int32 {
        #if canImport(Darwin) || canImport(Musl)
        SOCK_STREAM
        #else
        Int32(SOCK_STREAM.rawValue)
        #endif
    }

    /// The system's `connect`, whose name is shadowed here.
    private static func begin(
        _ descriptor: Int32,
        _ address: UnsafePointer<sockaddr>?,
        _ size: socklen_t
    ) -> Int32 {
        #if canImport(Darwin)
        Darwin.connect(descriptor, address, size)
        #elseif canImport(Glibc)
        Glibc.connect(descriptor, address, size)
        #else
        Musl.connect(descriptor, address, size)
        #endif
    }
}
#endif
