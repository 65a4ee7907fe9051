internal import HTTPTypes
public import KeelCore
public import KeelHTTP
public import KeelStorage
public import KeelSync

/// An error of a data source.
///
/// Its ``cause`` is the error of the network, the store, the mapping or the outbox. See <doc:ErrorsOfRepositories>.
public struct DataSourceError: KeelError {
    /// The kinds of source.
    public enum Source: Sendable, Hashable {
        /// A service, or the connection to it.
        case remote
        /// A store on this device.
        case local
        /// The mapping: the read value does not fit.
        case mapping
    }

    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The kind of source that failed.
    public let source: Source

    /// Creates an error.
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

    /// The service's error, if it is the cause.
    public var networkError: NetworkError? { cause as? NetworkError }

    /// The error of the exchange with the service, if it is the cause.
    public var transportError: TransportError? {
        cause as? TransportError ?? networkError?.transportError
    }

    /// The store's error, if it is the cause.
    public var storageError: StorageError? { cause as? StorageError }

    /// The mapping's error, if it is the cause.
    public var mappingError: MappingError? { cause as? MappingError }
}

extension DataSourceError {
    /// Converts a service's error.
    public init(_ error: NetworkError) {
        self.init(Self.code(for: error), error.message, source: .remote, cause: error)
    }

    /// Converts an error of the exchange with a service.
    ///
    /// The ``cause`` is the resulting `NetworkError`.
    public init(_ error: TransportError) { self.init(NetworkError(error)) }

    /// Creates an error for a response with a status outside of 200 to 299; nil for others.
    ///
    /// - Parameters:
    ///   - response: A response of `NetworkClient.response(to:)`, which ignores the status.
    ///   - errorBodies: The types for its body; ``networkError`` has the value.
    ///   - coding: The service's JSON conventions.
    public init?(
        errorResponse response: NetworkResponse,
        errorBodies: [ErrorBody] = [],
        coding: JSONCoding = .standard
    ) {
        let error = NetworkError(
            errorResponse: response,
            errorBodies: errorBodies,
            coding: coding
        )
        guard let error else { return nil }
        self.init(error)
    }

    /// Converts a store's error.
    public init(_ error: StorageError) {
        self.init(Self.code(for: error.code), error.message, source: .local, cause: error)
    }

    /// Converts any error; a ``DataSourceError`` stays the same.
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

    /// Converts a mapping's error.
    public init(_ error: MappingError) {
        self.init(.unmappable, error.message, source: .mapping, cause: error)
    }

    /// Converts an outbox's error.
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
    /// Runs an operation of the service, converting any error.
    public static func remote<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(DataSourceError) -> Value {
        do { return try await operation() } catch { throw Self(error) }
    }

    /// Runs an operation of the store, converting any error.
    public static func local<Value, Failure: Error>(
        _ operation: () async throws(Failure) -> Value
    ) async throws(DataSourceError) -> Value {
        do { return try await operation() } catch { throw Self(error) }
    }

    /// Runs a mapping, converting any error.
    public static func mapping<Value, Failure: Error>(
        _ operation: () throws(Failure) -> Value
    ) throws(DataSourceError) -> Value {
        do { return try operation() } catch { throw Self(error) }
    }
}

extension DataSourceError {
    /// Whether the service may have carried out the request in spite of this error.
    var mayHaveTakenEffect: Bool {
        if let transportError { return transportError.processed != .no }
        return switch code {
        case .unauthenticated, .forbidden, .invalid, .invalidRequest, .throttled, .unsupported:
            false
        // A conflict with the outbox is found before the call.
        case .conflict: source == .remote
        default: true
        }
    }
}
