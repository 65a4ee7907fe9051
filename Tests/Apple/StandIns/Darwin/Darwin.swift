// swift-format-ignore-file: AlwaysUseLowerCamelCase

public import CKeelAttributes
@_exported public import Glibc

// The parts of Darwin that Keel calls and that the C library of Linux lacks, or has with other types; everything else
// is the machine's library. So the types of numbers in structures are those of Linux, such as `mode_t`, which has 16
// bits on Darwin.

/// `fcntl`'s command that flushes a drive's cache, which Linux lacks.
public let F_FULLFSYNC: Int32 = 51

/// A socket option that suppresses a signal; here `SO_DEBUG`, which has no effect.
public let SO_NOSIGPIPE: Int32 = 1

/// A number on Darwin, an enumeration case in glibc's header.
public let SOCK_STREAM: Int32 = 1

/// A number on Darwin, an enumeration case in glibc's header.
public let RLIMIT_NOFILE = Int32(bitPattern: Glibc.RLIMIT_NOFILE.rawValue)

/// The maximum number of open files of a macOS process, whatever the hard limit is.
public let OPEN_MAX: Int32 = 10_240

extension stat {
    public var st_mtimespec: timespec { st_mtim }
    public var st_ctimespec: timespec { st_ctim }
}

/// Has a position, for resource forks, before the options.
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

/// Has a position, for resource forks, and options.
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

/// Supports one name, that of the boot session.
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

/// The argument of a thread's body is not optional on Darwin.
public typealias DarwinThreadBody =
    @convention(c) (UnsafeMutableRawPointer) -> UnsafeMutableRawPointer?

/// A thread is a pointer on Darwin, which is nil before its creation.
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
