#if canImport(Darwin)
import Darwin
#elseif canImport(Glibc)
import Glibc
#elseif canImport(Musl)
import Musl
#elseif canImport(Android)
import Android
#endif

#if canImport(FoundationEssentials)
import FoundationEssentials
#else
import Foundation
#endif

/// Why a file could not be sent or received.
public struct HTTPFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure; later versions may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The address is not one of a file on this machine.
        public static let notLocal = Reason(description: "is not on this machine")
        /// The file could not be opened or made.
        public static let open = Reason(description: "could not be opened")
        /// There is something at the path, but not a file with contents, such as a folder.
        public static let notAFile = Reason(description: "is not a regular file")
        /// The file could not be read.
        public static let read = Reason(description: "could not be read")
        /// The file has another length than it had when it was opened first.
        public static let changedLength = Reason(
            description: "changed its length while it was sent"
        )
        /// The file could not be written.
        public static let write = Reason(description: "could not be written")
        /// The complete file could not be given its name.
        public static let rename = Reason(description: "could not be put in its place")
    }

    /// The reason for the failure.
    public let reason: Reason

    /// The path of the file.
    public let path: String

    /// The operating system's number for the failure, where it reported one.
    public let number: Int32?

    init(_ reason: Reason, _ path: String, number: Int32? = nil) {
        self.reason = reason
        self.path = path
        self.number = number
    }

    /// The path, the reason and the system's own words on one line.
    public var description: String {
        let text = "The file '\(path)' \(reason)"
        // Whether the pointer is optional depends on the system.
        let words: UnsafeMutablePointer<CChar>? = number.flatMap { strerror($0) }
        guard let words else { return text + "." }
        return "\(text): \(String(cString: words))."
    }
}

extension HTTPFileError {
    /// Returns the path that a URL names on this machine.
    static func localPath(of url: URL) throws(HTTPFileError) -> String {
        let path = url.path(percentEncoded: false)
        guard url.isFileURL else { throw HTTPFileError(.notLocal, path) }
        return path
    }
}
