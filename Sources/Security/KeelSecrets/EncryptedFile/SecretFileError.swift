internal import KeelCore

extension SecretError {
    /// Creates the error of a secret store for a failed file operation.
    init(_ error: FileSystemError, otherwise code: Code) {
        switch error.kind {
        case .notPermitted:
            self.init(.permissionDenied, "Access to \(error.name) was denied.", cause: error)
        case .noSpace:
            self.init(
                .diskFull,
                "The disk is full; \(error.name) could not be written.",
                cause: error
            )
        case .busy:
            self.init(.timeout, "Another process has locked \(error.name).", cause: error)
        default:
            self.init(code, "\(error.name) could not be accessed.", cause: error)
        }
    }
}
