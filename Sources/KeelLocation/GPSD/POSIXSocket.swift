#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#endif
#if canImport(Glibc) || canImport(Musl) || canImport(Darwin)

/// The calls of the system that a connection is made of, and what differs between C libraries.
enum POSIXSocket {
    /// An address as the system knows it.
    struct Address: Sendable {
        let family: Int32
        let bytes: [UInt8]
    }

    /// What came of connecting.
    enum Connecting {
        case connected(Int32)
        case failed(GPSDConnection.SystemError)
        case woken
    }

    /// Looks a name up, which may take its time.
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

    /// Makes a socket that does not block, and connects it until the pipe wakes it.
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

    /// Sleeps until the socket is ready; returns false when the pipe was closed.
    static func wait(_ descriptor: Int32, _ events: Int16, orWakeBy wakeUp: Int32) -> Bool {
        var descriptors = [
            pollfd(fd: descriptor, events: events, revents: 0),
            pollfd(fd: wakeUp, events: Int16(POLLIN), revents: 0),
        ]
        while poll(&descriptors, 2, -1) < 0, errno == EINTR {}
        return descriptors[1].revents == 0
    }

    /// Sends without waiting and without a signal where the other side is gone.
    static func send(_ descriptor: Int32, _ bytes: [UInt8]) -> Bool {
        #if canImport(Darwin)
        let flags: Int32 = 0
        #else
        // MSG_NOSIGNAL: a type of its own, or none, depending on the C library.
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

    /// Runs a body on a thread of its own; returns false where there is none to be had.
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

    /// SOCK_STREAM, which glibc's header makes a type of its own.
    private static var stream: Int32 {
        #if canImport(Darwin) || canImport(Musl)
        SOCK_STREAM
        #else
        Int32(SOCK_STREAM.rawValue)
        #endif
    }

    /// The system's `connect`, whose name this type has taken.
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
