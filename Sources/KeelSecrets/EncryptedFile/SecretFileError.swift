internal import KeelCore

extension SecretError {
    /// Creates the error of a secret store for a failed file operation.
    init(_ error: FileSystemError, otherwise code: Code) {
        switch error.kind {
        case .notPermitted:
            self.init(.permissionDenied, "\(error.name) may not be used.", cause: error)
        case .noSpace:
            self.init(.diskFull, "There is no room left for \(error.name).", cause: error)
        case .busy:
            self.init(.timeout, "Another process kept the lock \(error.name).", cause: error)
        default:
            self.init(code, "\(error.name) could not be used.", cause: error)
        }
    }
}
