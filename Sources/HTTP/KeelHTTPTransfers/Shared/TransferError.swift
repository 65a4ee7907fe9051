public import HTTPTypes
public import KeelCore
import KeelHTTP

/// A failure of a resumable transfer.
///
/// Unless the code says otherwise, transferred bytes remain, and the same call continues. The message may name files
/// and hosts, but never contains a query string, header fields or contents.
public struct TransferError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The status of the response that refused the request, if one did.
    public let status: HTTPResponse.Status?

    /// The number of safe bytes: on disk for a download, at the server for an upload.
    public internal(set) var completedBytes: Int64

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: The kind of failure.
    ///   - message: A description of the failure; nil uses the code's summary.
    ///   - status: The status of the response, if the server refused the request.
    ///   - completedBytes: The number of safe bytes.
    ///   - cause: The underlying error.
    public init(
        _ code: Code,
        _ message: String? = nil,
        status: HTTPResponse.Status? = nil,
        completedBytes: Int64 = 0,
        cause: (any Error)? = nil
    ) {
        self.code = code
        self.message = message ?? code.summary
        self.status = status
        self.completedBytes = completedBytes
        self.cause = cause
    }
}

extension TransferError {
    init(_ error: FileSystemError, source: Bool = false) {
        let code: Code =
            switch error.kind {
            case .noSpace: .noSpace
            case .notPermitted: .notPermitted
            case .notFound: source ? .sourceNotFound : .folderNotFound
            case .busy: .inUse
            case .exists, .other: .fileSystem
            }
        self.init(code, cause: error)
    }

    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .invalidRequest, .redirectInvalid: .invalidAddress
            case .bodyProducerFailed where error.cause is TransferError: .sourceChanged
            default: error.mayPass ? .connection : .exchange
            }
        if let own = error.cause as? TransferError, error.code == .bodyProducerFailed {
            self = own
        } else {
            self.init(code, cause: error)
        }
    }

    init(refusedWith status: HTTPResponse.Status) {
        let isTransient = [408, 425, 429, 500, 502, 503, 504].contains(status.code)
        let code: Code = isTransient ? .unavailable : .refused
        self.init(code, "\(code.summary) Its status is \(status.code).", status: status)
    }
}

extension TransferError {
    /// A kind of transfer failure; later versions may add more.
    public struct Code: KeelErrorCode {
        public let kind: ErrorKind
        public var name: String { kind.name }
        public var isTransient: Bool { kind.isTransient }
        public var advice: String { kind.advice }

        public init(kind: ErrorKind) { self.kind = kind }
    }
}

// MARK: - The network and the server

extension TransferError.Code {
    /// The connection, or the renewal of the token, failed more often in a row than the retry policy allows, or a
    /// download in the background failed.
    public static let connection = Self(
        name: "connection",
        isTransient: true,
        summary: "The connection failed too often.",
        advice: "Run the transfer again when the network is available: it resumes where it stopped."
    )
    /// The exchange failed for a reason that a retry does not fix.
    public static let exchange = Self(
        name: "exchange",
        summary: "The exchange with the server failed.",
        advice: "Check the cause; once it is fixed, run the transfer again to resume it."
    )
    /// The server was unavailable more often in a row than the retry policy allows, or asks for a pause above
    /// ``TransferRetry/retryAfterLimit``.
    public static let unavailable = Self(
        name: "unavailable",
        isTransient: true,
        summary: "The server cannot serve the request now.",
        advice: "Run the transfer again later: it resumes where it stopped."
    )
    /// The server permanently refused the request.
    public static let refused = Self(
        name: "refused",
        summary: "The server refused the request.",
        advice: "Check the status. With a new address or new credentials, the same transfer "
            + "can be resumed."
    )
    /// The response violates HTTP or the upload protocol.
    public static let invalidResponse = Self(
        name: "invalidResponse",
        summary: "The server's response is invalid.",
        advice: "Check that the address belongs to the service; a login page may intercept it."
    )
    /// The server sends the file with a content coding although none was requested.
    public static let contentCoded = Self(
        name: "contentCoded",
        summary: "The server sends the file with a content coding although none was requested.",
        advice: "Disable compression for this file on the server, or use the client's own "
            + "download, which decodes but cannot resume."
    )
    /// The file at the server changed, or the server refused the range, more often than ``TransferRetry/restartLimit``
    /// allows.
    public static let changing = Self(
        name: "changing",
        summary: "The file on the server kept changing while it was being read.",
        advice:
            "Run the transfer again when the file is no longer changing, or request a fixed version."
    )
    /// The bytes do not have the expected digest; the part on disk was removed.
    public static let digestMismatch = Self(
        name: "digestMismatch",
        summary: "The file does not have the expected digest.",
        advice: "Check the expected digest, then run the transfer again: it starts over."
    )
    /// The address is not usable for a request.
    public static let invalidAddress = Self(
        name: "invalidAddress",
        summary: "The address cannot be used.",
        advice: "Use an http or https address, absolute or relative to the client's base URL."
    )
}

// MARK: - Uploads

extension TransferError.Code {
    /// The server does not support the protocol for resumable uploads.
    public static let resumptionUnsupported = Self(
        name: "resumptionUnsupported",
        summary: "The server does not support resumable uploads with this protocol.",
        advice:
            "Choose the protocol that the server supports, or configure a fallback that sends the "
            + "file as one plain request."
    )
    /// The server forgot the upload, or rejected its offset, more often than ``TransferRetry/restartLimit`` allows.
    public static let expired = Self(
        name: "expired",
        summary: "The server no longer has this upload.",
        advice: "Discard the transfer and run it again: it starts over."
    )
    /// The last bytes may have been sent, and the server no longer knows the upload or its offset.
    public static let outcomeUnknown = Self(
        name: "outcomeUnknown",
        summary: "All bytes were sent, but the server no longer knows whether they arrived.",
        advice: "Ask the service whether it has the file. If not, discard the transfer and run it "
            + "again."
    )
    /// The file to send has changed since the upload began.
    public static let sourceChanged = Self(
        name: "sourceChanged",
        summary: "The file has changed since its upload started.",
        advice: "Discard the transfer and run it again to send the new contents."
    )
    /// The file to send does not exist.
    public static let sourceNotFound = Self(
        name: "sourceNotFound",
        summary: "The file to send does not exist.",
        advice: "Check the path of the file."
    )
    /// The file exceeds the server's limit.
    public static let tooLarge = Self(
        name: "tooLarge",
        summary: "The file is larger than the server accepts.",
        advice: "Send a smaller file, or raise the server's limit."
    )
}

// MARK: - This machine

extension TransferError.Code {
    /// The disk is full, or the user's quota is exhausted.
    public static let noSpace = Self(
        name: "noSpace",
        summary: "The disk is full.",
        advice: "Free disk space, then run the transfer again: it resumes where it stopped."
    )
    /// The user lacks the permission to read or write there.
    public static let notPermitted = Self(
        name: "notPermitted",
        summary: "Permission was denied.",
        advice: "Check the permissions of the file and its folder, and that the disk is writable."
    )
    /// The folder of the file does not exist.
    public static let folderNotFound = Self(
        name: "folderNotFound",
        summary: "The file's folder does not exist.",
        advice: "Create the folder first."
    )
    /// Another transfer uses the same file, in this process or another.
    public static let inUse = Self(
        name: "inUse",
        summary: "Another transfer is using the same file.",
        advice: "Wait for it or cancel it; two transfers cannot write to one file."
    )
    /// A file operation failed for another reason, such as a failing disk.
    public static let fileSystem = Self(
        name: "fileSystem",
        summary: "A file could not be read or written.",
        advice: "See the cause for the system's error."
    )
    /// The configuration is invalid.
    public static let invalidConfiguration = Self(
        name: "invalidConfiguration",
        summary: "The configuration of the transfer is invalid.",
        advice: "Correct the call as the message describes."
    )
    /// The task that ran the transfer was canceled, which pauses the transfer.
    public static let cancelled = Self(
        name: "cancelled",
        summary: "The caller canceled the transfer.",
        advice: "Run the transfer again to resume it, or discard it."
    )
}

extension TransferError.Code {
    public static let known: [Self] = [
        .connection, .exchange, .unavailable, .refused, .invalidResponse, .contentCoded, .changing,
        .digestMismatch, .invalidAddress, .resumptionUnsupported, .expired, .outcomeUnknown,
        .sourceChanged, .sourceNotFound, .tooLarge, .noSpace, .notPermitted, .folderNotFound,
        .inUse, .fileSystem, .invalidConfiguration, .cancelled,
    ]
}
