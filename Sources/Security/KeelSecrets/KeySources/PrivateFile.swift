internal import KeelCore

#if canImport(Darwin)
internal import Darwin
#elseif canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#endif

/// A key file on disk, checked while it is open: the file that was checked is the file that is read, even if its name
/// is reused meanwhile.
enum PrivateFile {
    /// Reads a file that belongs to this user or root and that no other user may access.
    ///
    /// Links are followed, and the checks apply to the target. Pipes and devices are refused.
    ///
    /// - Returns: The bytes, or nil if the file does not exist.
    /// - Throws: ``SecretError`` with the code `permissionDenied` or `missingKey`.
    static func bytes(_ path: String, upTo limit: Int) throws(SecretError) -> [UInt8]? {
        // Without O_NONBLOCK, opening a pipe without a writer would block.
        let descriptor = openat(AT_FDCWD, path, O_RDONLY | O_NONBLOCK | O_CLOEXEC, 0)
        guard descriptor >= 0 else {
            let error = FileSystemError("open", path, number: errno)
            if error.kind == .notFound { return nil }
            throw SecretError(error, otherwise: .missingKey)
        }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0 else {
            let error = FileSystemError("fstat", path, number: errno)
            throw SecretError(error, otherwise: .missingKey)
        }
        guard status.st_mode & S_IFMT == S_IFREG else {
            throw SecretError(.missingKey, "\(path) is not a regular file.")
        }
        guard status.st_uid == geteuid() || status.st_uid == 0 else {
            throw SecretError(.permissionDenied, "\(path) belongs to another user.")
        }
        guard status.st_mode & 0o077 == 0 else {
            throw SecretError(.permissionDenied, "Users other than its owner can access \(path).")
        }
        let (bytes, failure) = DescriptorCalls.read(descriptor, at: 0, count: limit)
        guard failure == 0 else {
            let error = FileSystemError("pread", path, number: failure)
            throw SecretError(error, otherwise: .missingKey)
        }
        return bytes
    }
}
