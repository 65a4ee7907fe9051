#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Bionic)
import Bionic
#endif

/// An error of a file operation, with the system's error number.
package struct FileSystemError: Error, Hashable, Sendable, CustomStringConvertible {
    package enum Kind: Hashable, Sendable {
        case notFound
        case exists
        /// The user lacks permission, or the disk is read-only.
        case notPermitted
        /// The disk is full, or the user's quota is used up.
        case noSpace
        case busy
        /// Any other failure, such as a failing disk.
        case other
    }

    /// The system call, such as `pwrite`.
    package let call: String
    /// The last component of the path.
    package let name: String
    /// The error number, `errno`.
    package let number: Int32

    package init(_ call: String, _ path: String, number: Int32) {
        self.call = call
        self.name = path.split(separator: "/").last.map(String.init) ?? path
        self.number = number
    }

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

    /// Whether a file was expected, but the path refers to a folder, pipe or device, or to a link that is not followed.
    package var isNotAFile: Bool { number == ELOOP || number == Self.notAFile }

    package var description: String {
        // The system's text, such as “is a directory”, would be wrong for a pipe.
        let text =
            isNotAFile
            ? "it is a link or not a regular file"
            : strerror(number).map { String(cString: $0) } ?? "unknown"
        return "\(call) of \(name): \(text) (errno \(number))"
    }

    // Error numbers for test doubles, so that they need not import a C library.

    package static let notFound = ENOENT
    package static let exists = EEXIST
    package static let notPermitted = EACCES
    package static let noSpace = ENOSPC
    package static let busy = EWOULDBLOCK
    /// The name belongs to a folder, a pipe or a device.
    package static let notAFile = EISDIR
    package static let inputOutput = EIO
}
