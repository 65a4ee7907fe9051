public import KeelCore

extension NetworkError {
    /// The kinds of failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

extension NetworkError.Code {
    /// The base URL and the endpoint do not form a valid URL, or the transport cannot send the request.
    public static let invalidURL = Self(
        name: "invalidURL",
        summary: "The address of the request is not valid.",
        advice: "Check the base URL and the path; no value in a path may be empty or only dots."
    )
    /// The request body could not be encoded.
    public static let encoding = Self(
        name: "encoding",
        summary: "The request body could not be encoded.",
        advice: "See the cause: it names the value that has no JSON form."
    )
    /// The response is not valid HTTP, not of the expected kind, or has a status outside 200 to 599.
    public static let invalidResponse = Self(
        name: "invalidResponse",
        summary: "The server's response is not valid.",
        advice: "Check that the base URL is the service's; a captive portal may have answered."
    )
    /// Any other status from 300 to 599, including a redirect that was not followed.
    public static let status = Self(
        name: "status",
        summary: "The server refused the request.",
        advice: "Look at the status and the body of the response."
    )
    /// The server cannot serve the request now: status 408, 429, 500, 502, 503 or 504.
    ///
    /// Also a call that a circuit breaker or a limit of the client refuses.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        summary: "The server cannot serve the request now.",
        advice: "Try again later, after the time in the Retry-After field if there is one."
    )
    /// Valid credentials are required: status 401, or the client has none for the call.
    ///
    /// If they could not be renewed for a passing reason, the code is that of the reason, or ``unavailable``.
    public static let unauthorized = Self(
        name: "unauthorized",
        summary: "The server requires valid credentials.",
        advice: "Sign in again, then repeat the request."
    )
    /// The address does not exist: status 404.
    public static let notFound = Self(
        name: "notFound",
        summary: "There is nothing at this address.",
        advice: "Check the identifier; the item may have been deleted."
    )
    /// The response has no body, although the type requires one.
    public static let noData = Self(
        name: "noData",
        summary: "The response has no body.",
        advice: "For endpoints that answer without a body, use EmptyResponse or an optional."
    )
    /// The response body does not match the type.
    public static let decoding = Self(
        name: "decoding",
        summary: "The response body could not be decoded.",
        advice: "Compare the type with the API; the cause names the location and the expected type."
    )
    /// A time limit passed before the call was complete.
    public static let timeout = Self(
        name: "timeout",
        isTransient: true,
        summary: "The request took too long.",
        advice: "Check the network connection, then try again."
    )
    /// The server could not be reached.
    public static let noConnection = Self(
        name: "noConnection",
        isTransient: true,
        summary: "The server could not be reached.",
        advice: "Check the network connection, then try again."
    )
    /// The connection broke before the response was complete.
    public static let connectionLost = Self(
        name: "connectionLost",
        isTransient: true,
        summary: "The connection was lost.",
        advice: "Try again if repeating the request does no harm."
    )
    /// A file to send or receive could not be read or written.
    public static let file = Self(
        name: "file",
        summary: "A file could not be read or written.",
        advice: "See the cause: check the path, its permissions and the free space."
    )
    /// The exchange failed in another way; see ``NetworkError/transportError``.
    public static let transport = Self(
        name: "transport",
        summary: "The exchange with the server failed.",
        advice: "See the transport error in the cause."
    )
    /// The caller canceled the call.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The call was canceled.",
        advice: "Nothing to do: the caller no longer wants the result."
    )

    public static let known: [Self] = [
        .invalidURL, .encoding, .invalidResponse, .status, .unavailable, .unauthorized, .notFound,
        .noData, .decoding, .timeout, .noConnection, .connectionLost, .file, .transport,
        .cancelled,
    ]
}
