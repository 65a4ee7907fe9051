import KeelCore

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

/// The reason why a file could not be sent or received.
public struct HTTPFileError: Error, Sendable, Hashable, CustomStringConvertible {
    /// The kinds of failure; later versions may add more.
    public struct Reason: Sendable, Hashable, CustomStringConvertible {
        public let description: String

        /// The URL does not name a file on this machine.
        public static let notLocal = Reason(description: "is not on this machine")
        /// The file could not be opened or created.
        public static let open = Reason(description: "could not be opened")
        /// The path names something other than a regular file, such as a folder.
        public static let notAFile = Reason(description: "is not a regular file")
        /// The file could not be read.
        public static let read = Reason(description: "could not be read")
        /// The length of the file has changed since it was first opened.
        public static let changedLength = Reason(
            description: "changed length while it was being sent"
        )
        /// The file could not be written.
        public static let write = Reason(description: "could not be written")
        /// The complete file could not be moved to its name.
        public static let rename = Reason(description: "could not be moved into place")
    }

    /// The reason for the failure.
    public let reason: Reason

    /// The path of the file.
    public let path: String

    /// The operating system's error number, if it reported one.
    public let number: Int32?

    init(_ reason: Reason, _ path: String, number: Int32? = nil) {
        self.reason = reason
        self.path = path
        self.number = number
    }

    init(_ reason: Reason, _ path: String, _ error: FileSystemError) {
        let isNotAFile = reason == .open && error.number == FileSystemError.notAFile
        self.init(
            isNotAFile ? .notAFile : reason,
            path,
            number: isNotAFile ? nil : error.number
        )
    }

    /// The path, the reason and the system's message on one line.
    public var description: String {
        let text = "The file '\(path)' \(reason)"
        // Whether the pointer is optional depends on the platform.
        let words: UnsafeMutablePointer<CChar>? = number.flatMap { strerror($0) }
        guard let words else { return text + "." }
        return "\(text): \(String(cString: words))."
    }
}

extension HTTPFileError {
    static func localPath(of url: URL) throws(HTTPFileError) -> String {
        let path = url.path(percentEncoded: false)
        guard url.isFileURL else { throw HTTPFileError(.notLocal, path) }
        return path
    }
}
