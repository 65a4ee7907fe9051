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
    /// What a call of the system that failed means for a file.
    ///
    /// - Parameters:
    ///   - call: The system's call, such as `renameat`.
    ///   - path: The file that it was about.
    ///   - code: What it means when the number says nothing more.
    ///   - number: The system's number, `errno`.
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
