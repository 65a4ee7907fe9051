public import HTTPTypes
public import KeelCore
import KeelHTTP

/// Why a resumable transfer ended without its file being where it should be.
///
/// What was transferred stays, unless the code says otherwise: the same call continues it. The
/// message may name files and hosts, never a query string, a header field or contents.
public struct TransferError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The status of the response, where the server refused the request.
    public let status: HTTPResponse.Status?

    /// How many bytes are safe: on the disk for a download, at the server for an upload.
    public internal(set) var completedBytes: Int64

    /// Creates an error.
    ///
    /// - Parameters:
    ///   - code: What kind of failure it is.
    ///   - message: What happened; nil uses the code's own sentence.
    ///   - status: The status of the response, where the server refused the request.
    ///   - completedBytes: How many bytes are safe.
    ///   - cause: The error underneath.
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
    /// What a failed call on files means to a transfer.
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

    /// What a failed exchange means to a transfer.
    init(_ error: TransportError) {
        let code: Code =
            switch error.code {
            case .cancelled: .cancelled
            case .invalidRequest, .redirectInvalid: .invalidAddress
            case .bodyProducerFailed where error.cause is TransferError: .sourceChanged
            default: error.isTransient ? .connection : .exchange
            }
        if let own = error.cause as? TransferError, error.code == .bodyProducerFailed {
            self = own
        } else {
            self.init(code, cause: error)
        }
    }

    /// A refusal by status.
    init(refusedWith status: HTTPResponse.Status) {
        let isTransient = [408, 425, 429, 500, 502, 503, 504].contains(status.code)
        let code: Code = isTransient ? .unavailable : .refused
        self.init(code, "\(code.summary) Its status is \(status.code).", status: status)
    }
}
