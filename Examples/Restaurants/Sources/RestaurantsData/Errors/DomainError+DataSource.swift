internal import KeelHTTP
internal import KeelStorage
internal import RestaurantsDomain

extension DomainError {
    /// Says in the app's words what the failure of a data source means, and keeps it as the cause.
    init(_ error: DataSourceError) {
        let kind: Kind =
            switch error {
            case .remote(let error): error.meaning
            case .session(let error): error.meaning
            case .local(let error) where error.code == .cancelled: .cancelled
            case .local: .storageFailed
            case .unmappable: .sourceNotUnderstood
            }
        self.init(kind, cause: error)
    }

    /// Says in the app's words why a user could not be signed in.
    init(signingIn error: any Error) {
        switch error {
        case let error as DataSourceError where error.isUnauthorized:
            self.init(.wrongPassword, cause: error)
        case let error as DataSourceError: self.init(error)
        case let error as AuthenticationError: self.init(DataSourceError.session(error))
        default: self.init(.sourceRefused, cause: error)
        }
    }

    /// Runs a data source's operation.
    static func mapping<Value>(
        _ operation: () async throws(DataSourceError) -> Value
    ) async throws(DomainError) -> Value {
        do throws(DataSourceError) {
            return try await operation()
        } catch {
            throw DomainError(error)
        }
    }
}

extension NetworkError {
    /// What the failure means to the app.
    var meaning: DomainError.Kind {
        switch code {
        case .noConnection, .timeout, .connectionLost, .transport: .sourceUnreachable
        case .invalidURL, .invalidResponse, .noData, .decoding: .sourceNotUnderstood
        case .unauthorized:
            // A call that could not be signed was never sent: the session tells why.
            (transportError?.cause as? AuthenticationError)?.meaning ?? .sessionEnded
        case .cancelled: .cancelled
        default: .sourceRefused
        }
    }
}

extension AuthenticationError {
    /// What the failure means to the app.
    var meaning: DomainError.Kind {
        switch code {
        case .signedOut, .superseded: .notSignedIn
        case .denied, .expired: .sessionEnded
        case .storeFailed, .cleanUpIncomplete: .storageFailed
        case .cancelled: .cancelled
        default: .sourceRefused
        }
    }
}
