import HTTPTypes
import KeelCore

extension NetworkError {
    /// Creates the error that a caller gets for a failed exchange.
    public init(_ error: TransportError) {
        // The client itself refuses a request that cannot be built, and its error is the more precise one.
        if error.code == .invalidRequest, let reason = error.cause as? NetworkError {
            self = reason
            return
        }
        var code = error.cause is HTTPFileError ? .file : Self.code(for: error.code)
        // A caller that cannot reach the identity server is not signed out.
        if let reason = error.cause as? AuthenticationError, reason.isTransient {
            code = (reason.cause as? NetworkError)?.code ?? .unavailable
        }
        self.init(code, error.message, url: error.url, cause: error)
    }

    /// Creates the error for a status outside 200 to 299, or returns nil for any other status.
    ///
    /// ``NetworkClient/request(_:timeout:options:)`` would throw the same error. `url` must already be redacted.
    public init?(
        errorResponse response: NetworkResponse,
        url: String? = nil,
        errorBodies: [ErrorBody] = [],
        coding: JSONCoding = .standard
    ) {
        self.init(errorResponse: response, url: url, declared: errorBodies, coding: coding)
    }

    init?(
        errorResponse response: NetworkResponse,
        url: String?,
        declared errorBodies: [ErrorBody],
        coding: any BodyCoding
    ) {
        let status = response.head.status
        guard status.kind != .successful else { return nil }
        let code = Self.code(for: status)
        // The reason phrase is the server's own text and does not exist in HTTP/2; the number suffices.
        let message = "\(code.summary) Its status is \(status.code)."
        self.init(
            code,
            message,
            response: response,
            url: url,
            errorBody: ErrorBody.value(of: response, declared: errorBodies, coding: coding)
        )
    }

    private static func code(for status: HTTPResponse.Status) -> Code {
        switch status.code {
        case 401: .unauthorized
        case 404: .notFound
        case 408, 429, 500, 502, 503, 504: .unavailable
        case 300...599: .status
        default: .invalidResponse
        }
    }

    private static func code(for code: TransportError.Code) -> Code {
        switch code {
        case .invalidRequest: .invalidURL
        case .offline, .hostNotFound, .nameLookupFailed, .connectionRefused: .noConnection
        case .connectTimeout, .poolTimeout, .responseTimeout, .writeTimeout, .deadlineExceeded,
            .attemptTimeout, .tooSlow:
            .timeout
        case .connectionLost, .staleConnection, .streamRefused, .streamReset, .truncatedBody:
            .connectionLost
        case .circuitOpen, .throttled: .unavailable
        case .credentialsUnavailable: .unauthorized
        case .protocolViolation: .invalidResponse
        case .cancelled: .cancelled
        default: .transport
        }
    }
}

extension TransportError {
    /// Whether a later call may succeed: the failure is transient, or the credentials could not be renewed for a
    /// transient reason.
    ///
    /// The retries of a call use `isTransient` instead, because each of them would renew the credentials once more.
    package var mayPass: Bool {
        code == .credentialsUnavailable ? NetworkError(self).isTransient : isTransient
    }
}

extension NetworkError {
    /// Creates the error for a body that cannot be decoded as its type; the message contains no value of the body.
    init(undecodable response: NetworkResponse, url: String?, cause: any Error) {
        self.init(
            .decoding,
            DecodingFailure(cause).explanation,
            response: response,
            url: url,
            cause: cause
        )
    }
}
