public import KeelCore

/// Why a repository could not give or take what it was asked for, in words that a user knows.
///
/// A repository maps it to the app's own error, so that the domain need not know of Keel:
///
/// ```swift
/// func restaurant(_ id: RestaurantID) async throws(DomainError) -> Restaurant {
///     try await RepositoryError.mapped(to: DomainError.init) {
///         try await restaurants.entity(id.text)
///     }
/// }
/// ```
public struct RepositoryError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Creates an error.
    public init(_ code: Code, _ message: String? = nil, cause: (any Error)? = nil) {
        self.code = code
        self.message = message ?? code.summary
        self.cause = cause
    }

    /// Says what the failure of a data source means to who uses a repository.
    public init(_ error: DataSourceError) {
        self.init(Self.code(for: error.code), cause: error)
    }

    /// Says what any failure below means; one that is a repository's already stays as it is.
    public init(_ error: any Error) {
        self = error as? RepositoryError ?? RepositoryError(DataSourceError(error))
    }

    /// The failure of the data source, where that is what failed.
    public var dataSourceError: DataSourceError? { cause as? DataSourceError }

    /// Whether what is kept on this device is as good as it gets: nobody answers, or not now.
    public var isReachability: Bool { code == .unreachable || code == .unavailable }

    private static func code(for code: DataSourceError.Code) -> Code {
        switch code {
        case .unreachable, .timeout: .unreachable
        case .unavailable, .throttled: .unavailable
        case .connectionFailed: .connectionFailed
        case .unauthenticated: .signInRequired
        case .forbidden: .notPermitted
        case .notFound: .notFound
        case .conflict: .conflict
        case .invalid: .invalid
        case .refused: .refused
        case .unreadable, .unmappable, .invalidRequest: .notUnderstood
        case .storage: .storageFailed
        case .storageFull: .storageFull
        case .unsupported: .unsupported
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}

extension RepositoryError {
    /// Runs an operation of a repository, a data source or a store, and turns its failure into the app's
    /// own error.
    ///
    /// The closure needs no signature and may call any of them: an error of Keel's becomes a
    /// ``RepositoryError`` first. An error that is the app's already is thrown as it is.
    ///
    /// - Parameters:
    ///   - failure: Makes the app's error, usually its initialiser.
    ///   - operation: The operation.
    /// - Returns: The operation's result.
    /// - Throws: The app's error.
    public static func mapped<Value, Failure: Error, Cause: Error>(
        to failure: (RepositoryError) -> Failure,
        _ operation: () async throws(Cause) -> Value
    ) async throws(Failure) -> Value {
        do {
            return try await operation()
        } catch {
            throw error as? Failure ?? failure(RepositoryError(error))
        }
    }

    /// Runs an operation of a data source, and says what its failure means.
    ///
    /// - Returns: The operation's result.
    /// - Throws: ``RepositoryError``.
    public static func mapping<Value, Cause: Error>(
        _ operation: () async throws(Cause) -> Value
    ) async throws(RepositoryError) -> Value {
        do { return try await operation() } catch { throw RepositoryError(error) }
    }

    /// The app's error for this code, from a table.
    ///
    /// ```swift
    /// throw error.mapped(to: [.notFound: .noSuchRestaurant, .unreachable: .offline], else: .failed)
    /// ```
    public func mapped<Failure: Error>(
        to table: [Code: Failure],
        else other: @autoclosure () -> Failure
    ) -> Failure {
        table[code] ?? other()
    }
}
