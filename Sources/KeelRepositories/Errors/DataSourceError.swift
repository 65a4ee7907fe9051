internal import HTTPTypes
public import KeelCore
public import KeelHTTP
public import KeelStorage
public import KeelSync

/// Why a data source could not do what it was asked.
///
/// It is the link between the errors of the infrastructure and those of repositories: transport →
/// network or storage → data source → repository → the app's own. The link before it is its
/// ``cause``.
public struct DataSourceError: KeelError {
    /// Which kind of source failed.
    public enum Source: Sendable, Hashable {
        /// A service, or the way to it.
        case remote
        /// A store on this device.
        case local
        /// Neither: what was read does not fit.
        case mapping
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// Which kind of source failed.
    public let source: Source

    /// Creates an error, for a data source of one's own.
    public init(
        _ code: Code,
        _ message: String? = nil,
        source: Source = .local,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.source = source
        self.cause = cause
    }

    /// The failure of the service, where that is what failed.
    public var networkError: NetworkError? { cause as? NetworkError }

    /// The failure of the exchange with the service, where that is what failed.
    public var transportError: TransportError? {
        cause as? TransportError ?? networkError?.transportError
    }

    /// The failure of the store, where that is what failed.
    public var storageError: StorageError? { cause as? StorageError }

    /// The error of the mapping, where the mapping failed.
    public var mappingError: MappingError? { cause as? MappingError }
}

extension DataSourceError {
    /// Says what a failure of the service means.
    public init(_ error: NetworkError) {
        self.init(Self.code(for: error), error.message, source: .remote, cause: error)
    }

    /// Says what a failure of the exchange with the service means.
    ///
    /// Its ``cause`` is the `NetworkError` that the failure is for a caller.
    public init(_ error: TransportError) { self.init(NetworkError(error)) }

    /// Says what a response means whose status is not from 200 to 299; nil for one that succeeded.
    ///
    /// - Parameters:
    ///   - response: A response of `NetworkClient.response(to:)`, which leaves the status to its
    ///     caller.
    ///   - failures: Which types its body is read as; ``networkError`` has the value.
    ///   - coding: How the service writes JSON.
    public init?(
        refusing response: NetworkResponse,
        failures: [FailureBody] = [],
        coding: JSONCoding = .standard
    ) {
        guard let error = NetworkError(refusing: response, failures: failures, coding: coding)
        else { return nil }
        self.init(error)
    }

    /// Says what a failure of the store means.
    public init(_ error: StorageError) {
        self.init(Self.code(for: error.code), error.message, source: .local, cause: error)
    }

    /// Says what any failure below means; one that is a data source's already stays as it is.
    public init(_ error: any Error) {
        switch error {
        case let error as DataSourceError: self = error
        case let error as StorageError: self.init(error)
        case let error as NetworkError: self.init(error)
        case let error as TransportError: self.init(error)
        case let error as MappingError: self.init(error)
        case let error as OutboxError: self.init(error)
        case is CancellationError: self.init(.cancelled, cause: error)
        default: self.init(.unknown, cause: error)
        }
    }

    /// Says that what was read does not fit.
    public init(_ error: MappingError) {
        self.init(.unmappable, error.message, source: .mapping, cause: error)
    }

    /// Says what a failure of the outbox means.
    public init(_ error: OutboxError) {
        let code: Code =
            switch error.code {
            case .rejected, .discarded: .refused
            case .notFound: .notFound
            case .sending: .conflict
            case .storageUnavailable: .unavailable
            case .cancelled: .cancelled
            default: .storage
            }
        let storage = (error.cause as? StorageError).map { Self.code(for: $0.code) }
        let source: Source = code == .refused ? .remote : .local
        self.init(storage ?? code, error.message, source: source, cause: error)
    }

    private static func code(for error: NetworkError) -> Code {
        switch error.code {
        case .noConnection, .connectionLost: .unreachable
        case .timeout: .timeout
        case .unavailable: error.status?.code == 429 ? .throttled : .unavailable
        case .unauthorized: .unauthenticated
        case .notFound: .notFound
        case .noData, .decoding, .invalidResponse: .unreadable
        case .invalidURL, .encoding: .invalidRequest
        case .status: code(forStatus: error.status?.code)
        case .transport: .connectionFailed
        case .file: .storage
        case .cancelled: .cancelled
        default: .unknown
        }
    }

    private static func code(forStatus status: Int?) -> Code {
        switch status {
        case 400, 422: .invalid
        case 403: .forbidden
        case 409, 412: .conflict
        case 410: .notFound
        default: .refused
        }
    }

    private static func code(for code: StorageError.Code) -> Code {
        switch code {
        case .documentNotFound: .notFound
        case .alreadyExists, .conflict: .conflict
        case .invalidArgument, .unsupported, .indexRequired, .encodingFailed, .tooLarge:
            .invalidRequest
        case .decodingFailed: .unreadable
        case .permissionDenied: .forbidden
        case .unauthenticated: .unauthenticated
        case .diskFull: .storageFull
        case .busy, .unavailable: .unavailable
        case .timeout: .timeout
        case .cancelled: .cancelled
        default: .storage
        }
    }
}

extension DataSourceError {
    /// Runs an operation of the service, and says what its failure means.
    ///
    /// The closure needs no signature, whatever it throws: each error gets the meaning that it has for a data source.
    public static func remote<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(DataSourceError) -> Value {
        do { return try await operation() } catch { throw Self(error) }
    }

    /// Runs an operation of the store, and says what its failure means.
    public static func local<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(DataSourceError) -> Value {
        do { return try await operation() } catch { throw Self(error) }
    }

    /// Maps something that was read, and says what its failure means.
    public static func mapping<Value, Failure: Error>(
        _ operation: () throws(Failure) -> Value
    ) throws(DataSourceError) -> Value {
        do { return try operation() } catch { throw Self(error) }
    }
}
