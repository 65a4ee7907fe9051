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

extension FileStoreError {
    /// Creates the error for a failed system call on a file.
    ///
    /// - Parameters:
    ///   - call: The system call, such as `renameat`.
    ///   - path: The path of the file.
    ///   - code: The code to use unless the error number has a more specific one.
    ///   - number: The error number, `errno`.
    init(_ call: String, _ path: String, _ code: Code, number: Int32) {
        let cause = FileSystemError(call, path, number: number)
        let meaning: Code =
            switch number {
            case ENOSPC, EDQUOT, EFBIG: .diskFull
            case EACCES, EPERM, EROFS: .permissionDenied
            case ENAMETOOLONG: .invalidPath
            case E2BIG: .tooLarge
            default: code
            }
        self.init(meaning, "The call \(call) for “\(path)” failed.", cause: cause)
    }
}
