// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKeelAttributes
@_exported public import Glibc

// What Darwin has and the C library of Linux has not, or has with other types, as far as Keel calls it;
// the rest is the library of the machine. So the types of the numbers in structures, such as `mode_t`
// with 16 bits, are those of Linux.

/// `fcntl`'s command that empties the memory of a drive; no command of Linux.
public let F_FULLFSYNC: Int32 = 51

/// A socket option that spares the process a signal; here one without effect, `SO_DEBUG`.
public let SO_NOSIGPIPE: Int32 = 1

/// A number there, a case of an enumeration in glibc's header.
public let SOCK_STREAM: Int32 = 1

/// A number there, a case of an enumeration in glibc's header.
public let RLIMIT_NOFILE = Int32(bitPattern: Glibc.RLIMIT_NOFILE.rawValue)

/// The most files that a process of macOS may open, whatever the hard limit says.
public let OPEN_MAX: Int32 = 10_240

extension stat {
    public var st_mtimespec: timespec { st_mtim }
    public var st_ctimespec: timespec { st_ctim }
}

/// With a position, which is for resource forks, before the options.
public func fsetxattr(
    _ descriptor: Int32,
    _ name: UnsafePointer<CChar>?,
    _ value: UnsafeRawPointer?,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int32 {
    CKeelAttributes.fsetxattr(descriptor, name, value, size, options)
}

/// With a position, which is for resource forks, and options.
public func fgetxattr(
    _ descriptor: Int32,
    _ name: UnsafePointer<CChar>?,
    _ value: UnsafeMutableRawPointer?,
    _ size: Int,
    _ position: UInt32,
    _ options: Int32
) -> Int {
    CKeelAttributes.fgetxattr(descriptor, name, value, size)
}

/// Knows one name, that of this start of the machine.
public func sysctlbyname(
    _ name: UnsafePointer<CChar>?,
    _ old: UnsafeMutableRawPointer?,
    _ oldSize: UnsafeMutablePointer<Int>?,
    _ new: UnsafeMutableRawPointer?,
    _ newSize: Int
) -> Int32 {
    guard let name, String(cString: name) == "kern.bootsessionuuid", let old, let oldSize else {
        errno = ENOENT
        return -1
    }
    let file = open("/proc/sys/kernel/random/boot_id", O_RDONLY | O_CLOEXEC)
    guard file >= 0 else { return -1 }
    defer { close(file) }
    let count = read(file, old, min(36, oldSize.pointee))
    oldSize.pointee = max(0, count)
    return count < 0 ? -1 : 0
}

/// The body of a thread takes an argument that is there.
public typealias DarwinThreadBody =
    @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?

/// A thread is a pointer there, which is nil before it has been made.
public func pthread_create(
    _ thread: UnsafeMutablePointer<pthread_t?>,
    _ attributes: UnsafePointer<pthread_attr_t>?,
    _ body: DarwinThreadBody,
    _ argument: UnsafeMutableRawPointer?
) -> Int32 {
    guard let argument else { return EINVAL }
    let start = UnsafeMutablePointer<(DarwinThreadBody, UnsafeMutableRawPointer)>.allocate(
        capacity: 1
    )
    start.initialize(to: (body, argument))
    var made = pthread_t()
    let status = Glibc.pthread_create(
        &made,
        attributes,
        { pointer in
            let start = pointer?.assumingMemoryBound(
                to: (DarwinThreadBody, UnsafeMutableRawPointer).self
            )
            guard let (body, argument) = start?.move() else { return nil }
            start?.deallocate()
            return body(argument)
        },
        start
    )
    if status == 0 { thread.pointee = made } else { start.deallocate() }
    return status
}
