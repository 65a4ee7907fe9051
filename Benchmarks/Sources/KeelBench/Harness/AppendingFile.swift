import Foundation

/// A file to which each piece is appended with one system call.
///
/// Peers write to it; it is the minimal cost of a log that survives its process.
final class AppendingFile: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Flaw("The file \(path) could not be opened.") }
    }

    deinit { close(descriptor) }

    /// Appends bytes and returns whether all of them were written.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }
}
