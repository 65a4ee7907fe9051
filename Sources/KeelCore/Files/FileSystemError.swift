#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// A call on files that failed, with the number that the system gave.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    /// What a caller tells apart.
    package enum Kind: Hashable, Sendable {
        /// There is no such file or folder.
        case notFound
        /// There is a file of that name already.
        case exists
        /// The user may not do it, or the disk is read-only.
        case notPermitted
        /// There is no room, or the user's share of it is used up.
        case noSpace
        /// Somebody else holds the lock.
        case busy
        /// Anything else, a failing disk for example.
        case other
    }

    /// The system's call, such as `pwrite`.
    package let call: String
    /// The last part of the path that it was about.
    package let name: String
    /// The system's number, `errno`.
    package let number: Int32

    /// Creates an error.
    package init(_ call: String, _ path: String, number: Int32) {
        self.call = call
        self.name = path.split(separator: "/").last.map(String.init) ?? path
        self.number = number
    }

    /// What kind of failure the number stands for.
    package var kind: Kind {
        switch number {
        case ENOENT, ENOTDIR: .notFound
        case EEXIST: .exists
        case EACCES, EPERM, EROFS: .notPermitted
        case ENOSPC, EDQUOT, EFBIG: .noSpace
        case EWOULDBLOCK: .busy
        default: .other
        }
    }

    /// Whether there is a link that is not followed, or a folder, a pipe or a device, where a file is
    /// expected.
    package var isNotAFile: Bool { number == ELOOP || number == Self.notAFile }

    package var description: String {
        // The system's own words, “is a directory” for example, would be wrong of a pipe.
        let text =
            isNotAFile
            ? "it is a link, or not a file"
            : strerror(number).map { String(cString: $0) } ?? "unknown"
        return "\(call) of \(name): \(text) (errno \(number))"
    }

    // The numbers that doubles need, so that they import no C library.

    /// No such file or folder.
    package static let notFound = ENOENT
    /// A file of that name is there.
    package static let exists = EEXIST
    /// Permission denied.
    package static let notPermitted = EACCES
    /// No space left on the device.
    package static let noSpace = ENOSPC
    /// The lock is taken.
    package static let busy = EWOULDBLOCK
    /// The name belongs to a folder, a pipe or a device.
    package static let notAFile = EISDIR
    /// An input/output error.
    package static let inputOutput = EIO
}
