public import KeelCore

/// An error of a repository, in terms of the user.
///
/// A repository maps it to the app's own error, so that the domain does not depend on Keel:
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

    /// Converts a data source's error.
    public init(_ error: DataSourceError) {
        self.init(Self.code(for: error.code), cause: error)
    }

    /// Converts any error; a ``RepositoryError`` stays the same.
    public init(_ error: any Error) {
        self = error as? RepositoryError ?? RepositoryError(DataSourceError(error))
    }

    /// The data source's error, if it is the cause.
    public var dataSourceError: DataSourceError? { cause as? DataSourceError }

    /// Whether the source is unreachable or unavailable.
    public var isUnreachable: Bool { code == .unreachable || code == .unavailable }

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
        case .unreadable, .unmappable, .invalidRequest: .unexpectedResponse
        case .storage: .storageFailed
        case .storageFull: .storageFull
        case .unsupported: .unsupported
        case .cancelled: .cancelled
        default: .unknown
        }
    }
}

extension RepositoryError {
    /// Runs an operation of a repository, a data source or a store, and converts its error to the app's own.
    ///
    /// Any error becomes a ``RepositoryError`` first, except that an error of the app's own type is thrown unchanged.
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

    /// Runs an operation of a data source, converting any error.
    public static func mapping<Value, Cause: Error>(
        _ operation: () async throws(Cause) -> Value
    ) async throws(RepositoryError) -> Value {
        do { return try await operation() } catch { throw RepositoryError(error) }
    }

    /// Returns the app's error for this code, from a table.
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
