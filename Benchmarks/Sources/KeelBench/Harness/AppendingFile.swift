import Foundation

/// A file at whose end bytes are put, with one call of the system for each piece.
///
/// It is what peers write to, and the least that any log which survives its process can cost.
final class AppendingFile: Sendable {
    private let descriptor: Int32

    init(_ path: String) throws {
        descriptor = open(path, O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0o600)
        guard descriptor >= 0 else { throw Flaw("The file \(path) could not be opened.") }
    }

    deinit { close(descriptor) }

    /// Whether all of the bytes were written.
    func append(_ bytes: UnsafeRawBufferPointer) -> Bool {
        write(descriptor, bytes.baseAddress, bytes.count) == bytes.count
    }
}
