#if Crypto
internal import HTTPTypes
internal import KeelCore
internal import KeelFiles
internal import KeelHTTP

/// A reply that refuses a request.
///
/// The codes are those of docs.aws.amazon.com/AmazonS3/latest/API/ErrorResponses.html.
struct S3ErrorReply: Hashable, Sendable {
    /// The status; 200 if the refusal is in the body of a reply that began successfully.
    let status: Int
    /// The server's code; empty if the reply has no body, as for HEAD.
    let code: String
    let region: String?
    let requestID: String?
    let serverTime: Int64?
    let retryAfter: Duration?

    init(_ head: HTTPResponse, _ body: [UInt8]) {
        let document = try? XMLElement(parsing: body)
        self.init(head, document)
    }

    init(_ head: HTTPResponse, _ document: XMLElement?) {
        let error = document?.name == "Error" ? document : document?["Error"]
        status = head.status.code
        code = Self.word(error?.text("Code")) ?? ""
        let fields = head.headerFields
        region = Self.word(fields.first("x-amz-bucket-region") ?? error?.text("Region"))
        requestID = Self.word(fields.first("x-amz-request-id") ?? error?.text("RequestId"))
        serverTime = fields[.date].flatMap { HTTPDate($0)?.seconds }
        retryAfter = fields.first("retry-after").flatMap { Int64($0) }
            .flatMap { (0...300).contains($0) ? .seconds($0) : nil }
    }

    /// Texts of the server are included in messages only if they are printable ASCII words.
    private static func word(_ text: String?) -> String? {
        guard let text, (1...80).contains(text.utf8.count),
            text.utf8.allSatisfy({ (0x21...0x7E).contains($0) })
        else { return nil }
        return text
    }

    // MARK: Retries

    /// Whether the server did nothing, and may succeed when asked again.
    var isPassing: Bool {
        switch code {
        case "SlowDown", "ServiceUnavailable", "Throttling", "ThrottlingException",
            "RequestTimeout", "OperationAborted", "ConditionalRequestConflict",
            "RequestLimitExceeded",
            "TooManyRequests":
            true
        case "": status == 429 || status == 503
        default: status == 429
        }
    }

    var isUnclear: Bool {
        code == "InternalError" || code == "InternalFailure"
            || !isPassing && (status >= 500 && status != 501)
    }

    var isAboutTime: Bool { code == "RequestTimeTooSkewed" || code == "RequestExpired" }

    var isAboutExpiry: Bool { code == "ExpiredToken" || code == "ExpiredTokenException" }

    /// Whether the reply does not explain the reason, like one to HEAD.
    var isUnexplained: Bool { code.isEmpty && [301, 307, 400, 403].contains(status) }

    // MARK: Errors for the caller

    var isMissing: Bool { code == "NoSuchKey" || code.isEmpty && status == 404 }
    var isNotImplemented: Bool { code == "NotImplemented" || status == 501 }
    /// Whether the server does not have the upload or a part that it has confirmed, so that only a new upload can
    /// succeed.
    var isMissingUpload: Bool { code == "NoSuchUpload" || code == "InvalidPart" }
    var isFailedCondition: Bool {
        code == "PreconditionFailed" || code == "ConditionalRequestConflict" || status == 412
    }
    var isBeyondEnd: Bool { code == "InvalidRange" || status == 416 }

    func error(of subject: String, isWrite: Bool) -> FileStoreError {
        var text = "\(subject) failed: the server says \(code.isEmpty ? "" : code + " ")"
        text += "(status \(status)"
        if let requestID { text += ", request \(requestID)" }
        text += ")"
        if let region, fileStoreCode == .wrongRegion {
            text += "; the bucket is in \(region)"
        }
        if isAboutTime { text += "; set this machine's clock" }
        // A missing upload may have been completed by a request whose reply was lost.
        if isUnclear || isMissingUpload, isWrite {
            return FileStoreError(.outcomeUnknown, text + "; it may have taken effect.")
        }
        return FileStoreError(fileStoreCode, text + ".")
    }

    private var fileStoreCode: FileStoreError.Code {
        switch code {
        case "NoSuchKey": .fileNotFound
        case "NoSuchBucket": .bucketNotFound
        case "PreconditionFailed", "ConditionalRequestConflict": .conditionFailed
        case "InvalidRange": .rangeNotSatisfiable
        case "BadDigest", "InvalidDigest", "XAmzContentSHA256Mismatch",
            "XAmzContentChecksumMismatch",
            "IncompleteBody":
            .checksumMismatch
        case "EntityTooLarge", "MetadataTooLarge", "RequestHeaderSectionTooLarge": .tooLarge
        case "KeyTooLongError", "InvalidURI": .invalidPath
        case "InvalidBucketName", "InvalidRequest", "InvalidArgument", "InvalidPartOrder",
            "EntityTooSmall", "MalformedXML":
            .invalidArgument
        case "SignatureDoesNotMatch", "InvalidAccessKeyId", "ExpiredToken", "InvalidToken",
            "TokenRefreshRequired", "ExpiredTokenException", "InvalidClientTokenId",
            "UnrecognizedClientException", "RequestTimeTooSkewed", "RequestExpired", "NotSignedUp":
            .credentialsRefused
        case "PermanentRedirect", "TemporaryRedirect", "AuthorizationHeaderMalformed",
            "IllegalLocationConstraintException", "IncorrectEndpoint":
            .wrongRegion
        case "AccessDenied", "AllAccessDisabled", "AccountProblem", "MethodNotAllowed",
            "InvalidObjectState":
            .accessDenied
        case "NotImplemented", "UnsupportedArgument": .unsupported
        case "RequestTimeout": .timeout
        default: codeOfStatus
        }
    }

    private var codeOfStatus: FileStoreError.Code {
        switch status {
        case _ where isPassing: .unavailable
        case 301, 307: .wrongRegion
        case 401: .credentialsRefused
        case 403: .accessDenied
        case 404: .fileNotFound
        case 409, 412: .conditionFailed
        case 413: .tooLarge
        case 416: .rangeNotSatisfiable
        case 501: .unsupported
        case 500...: .unavailable
        default: .unknown
        }
    }
}

/// The reason that a request has no usable reply.
enum S3Failure: Error {
    /// The server refused the request.
    case refused(S3ErrorReply)
    /// There was no complete reply.
    case unanswered(TransportError)
    /// The request was not sent, or the reply is invalid.
    case failed(FileStoreError)

    var refusal: S3ErrorReply? { if case .refused(let refusal) = self { refusal } else { nil } }

    var isFailedCondition: Bool {
        switch self {
        case .refused(let refusal): refusal.isFailedCondition
        case .failed(let error): error.code == .conditionFailed
        case .unanswered: false
        }
    }

    func mayRepeat(_ call: S3Call) -> Bool {
        switch self {
        case .refused(let refusal):
            refusal.isPassing || refusal.isUnclear && call.isRepeatable
        case .unanswered(let error):
            error.isTransient && (call.isRepeatable || error.processed == .no)
        case .failed: false
        }
    }

    var mayHaveTakenEffect: Bool {
        switch self {
        case .refused(let refusal): refusal.isUnclear
        case .unanswered(let error): error.processed != .no && error.bytesSent != 0
        case .failed: false
        }
    }

    func error(of subject: String, isWrite: Bool = false) -> FileStoreError {
        switch self {
        case .refused(let refusal): return refusal.error(of: subject, isWrite: isWrite)
        case .failed(let error): return error
        case .unanswered(let error):
            let code = Self.code(for: error)
            guard isWrite, mayHaveTakenEffect else {
                return FileStoreError(code, "\(subject) failed: \(error.message)", cause: error)
            }
            return FileStoreError(
                code.isTransient ? .outcomeUnknown : code == .cancelled ? .canceledChange : code,
                "\(subject) failed, and may have taken effect: \(error.message)",
                cause: error
            )
        }
    }

    private static func code(for error: TransportError) -> FileStoreError.Code {
        switch error.code {
        case .cancelled: .cancelled
        case .connectTimeout, .poolTimeout, .responseTimeout, .writeTimeout, .deadlineExceeded,
            .attemptTimeout, .tooSlow:
            .timeout
        case .responseTooLarge, .protocolViolation: .invalidReply
        case .invalidRequest, .invalidConfiguration: .invalidArgument
        // Many systems report this for every name while there is no network.
        case .hostNotFound: .unavailable
        default: error.isTransient ? .unavailable : .unknown
        }
    }
}
#endif
