internal import KeelHTTP
internal import KeelRepositories
internal import RestaurantsDomain

extension DomainError {
    /// Translates a failure of an infrastructure component, which becomes the cause.
    init(_ error: RepositoryError) {
        let source = error.dataSourceError
        let kind: Kind =
            switch error.code {
            case .cancelled: .cancelled
            case _ where source?.source == .local: .storageFailed
            case .unreachable, .connectionFailed: .sourceUnreachable
            case .unexpectedResponse: .sourceNotUnderstood
            case .signInRequired:
                // A call that could not be signed was never sent; the session's error explains why.
                (source?.networkError?.transportError?.cause as? AuthenticationError)?.meaning
                    ?? .sessionEnded
            default: .sourceRefused
            }
        self.init(kind, cause: error)
    }

    /// Translates a failure of signing in.
    init(signingIn error: any Error) {
        switch error {
        case let error as DataSourceError where error.code == .unauthenticated:
            self.init(.wrongPassword, cause: error)
        case let error as DataSourceError: self.init(RepositoryError(error))
        case let error as AuthenticationError: self.init(error.meaning, cause: error)
        default: self.init(.sourceRefused, cause: error)
        }
    }

    /// Runs an operation of any infrastructure component.
    static func mapping<Value>(
        _ operation: () async throws -> Value
    ) async throws(DomainError) -> Value {
        try await RepositoryError.mapped(to: DomainError.init, operation)
    }

    /// Runs an operation of the session.
    static func session<Value>(
        _ operation: () async throws(AuthenticationError) -> Value
    ) async throws(DomainError) -> Value {
        do throws(AuthenticationError) {
            return try await operation()
        } catch {
            throw DomainError(error.meaning, cause: error)
        }
    }
}

extension AuthenticationError {
    /// The domain error for this failure.
    fileprivate var meaning: DomainError.Kind {
        switch code {
        case .signedOut, .superseded: .notSignedIn
        case .denied, .expired: .sessionEnded
        case .storeFailed, .cleanUpIncomplete: .storageFailed
        case .cancelled: .cancelled
        default: .sourceRefused
        }
    }
}
