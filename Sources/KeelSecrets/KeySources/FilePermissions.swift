#if canImport(Glibc)
internal import Glibc
#elseif canImport(Musl)
internal import Musl
#elseif canImport(Bionic)
internal import Bionic
#elseif canImport(Darwin)
internal import Darwin
#endif

/// Who may use a file, as far as it concerns a key.
enum FilePermissions {
    /// Whether the group or everybody may read, write or run the file.
    static func isOpenToOthers(_ path: String) -> Bool {
        var status = stat()
        guard stat(path, &status) == 0 else { return false }
        return status.st_mode & 0o077 != 0
    }
}
