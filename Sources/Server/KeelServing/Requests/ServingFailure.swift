import HTTPTypes
import KeelHTTP
import KeelStorage
import KeelStorageFirestore

/// The reason for refusing a request, with a reply in the form of Google's errors.
struct ServingFailure: Error {
    let error: StorageError
    let status: FirestoreStatus
    /// The HTTP status, if it differs from that of `status`.
    var httpStatus: Int?
    var fields: HTTPFields = [:]

    init(_ error: StorageError, as status: FirestoreStatus, httpStatus: Int? = nil) {
        self.error = error
        self.status = status
        self.httpStatus = httpStatus
    }

    init(_ error: StorageError) {
        let isAborted = error.code == .conflict && error.operation == TransactionTable.operation
        self.init(error, as: isAborted ? .aborted : FirestoreStatus(error))
        if error.code.isTransient { fields[.retryAfter] = "1" }
    }

    var reply: HTTPReply {
        let json = FirestoreEncoding.error(error, status: status, httpStatus: httpStatus)
        var reply = HTTPReply.json(
            json.bytes,
            HTTPResponse.Status(code: httpStatus ?? status.httpStatus)
        )
        reply.head.headerFields.append(contentsOf: fields)
        return reply
    }

    // MARK: Other failures

    static func invalid(_ message: String) -> Self {
        Self(StorageError(.invalidArgument, message))
    }

    static let shuttingDown = Self(StorageError(.unavailable, "the server is shutting down"))

    static let noSuchPath = Self(
        StorageError(.invalidArgument, "the server does not know this path"),
        as: .notFound
    )

    static func forbidden(_ message: String) -> Self {
        Self(StorageError(.permissionDenied, message))
    }

    /// Creates the failure of a request whose authentication failed.
    static func unauthenticated(_ error: StorageError) -> Self {
        var failure = Self(error)
        // Status 401 needs a challenge (RFC 9110 section 15.5.2).
        if failure.status == .unauthenticated { failure.fields[.wwwAuthenticate] = "Bearer" }
        return failure
    }

    static func notAllowed(
        _ method: HTTPRequest.Method,
        allowed: [HTTPRequest.Method]
    ) -> Self {
        let message = "\(method.rawValue) is not allowed; see the Allow header"
        var failure = Self(
            StorageError(.invalidArgument, message),
            as: .invalidArgument,
            httpStatus: 405
        )
        failure.fields[.allow] = HTTPReply.allow(allowed)
        return failure
    }

    static func bodyTooLarge(_ limit: Int, _ unit: String = "bytes") -> Self {
        Self(
            StorageError(.tooLarge, "the request body has more than \(limit) \(unit)"),
            as: .invalidArgument,
            httpStatus: 413
        )
    }

    static let notJSON = Self(
        StorageError(
            .invalidArgument,
            "the body's media type is not JSON; send Content-Type: application/json"
        ),
        as: .invalidArgument,
        httpStatus: 415
    )
}

extension HTTPReply {
    /// Returns a JSON reply that must not be cached.
    static func json(_ bytes: [UInt8], _ status: HTTPResponse.Status = .ok) -> HTTPReply {
        var reply = HTTPReply.bytes(status, type: "application/json; charset=utf-8", bytes)
        reply.head.headerFields[.cacheControl] = "no-store"
        reply.head.headerFields[.xContentTypeOptions] = "nosniff"
        return reply
    }

    /// Returns a streamed JSON reply that must not be cached.
    static func json(_ pieces: HTTPByteStream) -> HTTPReply {
        var reply = HTTPReply.json([])
        reply.head.headerFields[.contentLength] = nil
        reply.body = pieces
        return reply
    }

    /// Returns the reply to OPTIONS, including a preflight.
    static func options(_ methods: [HTTPRequest.Method], for request: HTTPRequest) -> HTTPReply {
        var head = HTTPResponse(status: .noContent)
        head.headerFields[.allow] = allow(methods)
        if request.headerFields[.accessControlRequestMethod] != nil {
            head.headerFields[.accessControlAllowMethods] = allow(methods)
            head.headerFields[.accessControlAllowHeaders] =
                request.headerFields[.accessControlRequestHeaders]
            head.headerFields[.accessControlMaxAge] = "600"
        }
        return HTTPReply(head: head)
    }

    fileprivate static func allow(_ methods: [HTTPRequest.Method]) -> String {
        let implied: [HTTPRequest.Method] = methods.contains(.get) ? [.head, .options] : [.options]
        return (methods + implied).map(\.rawValue).joined(separator: ", ")
    }
}
