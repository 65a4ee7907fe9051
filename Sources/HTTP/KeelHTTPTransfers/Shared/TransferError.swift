public import HTTPTypes
public import KeelCore
import KeelHTTP

/// A failure of a resumable transfer.
///
/// Transferred bytes remain, unless the code says otherwise, and the same call continues. The
/// message may name files and hosts, but never contains a query string, header fields or contents.
public struct TransferError: KeelError {
    public let code: Code
    public let message: String
    public let cause: (any Error)?

    /// The status of the response, if the server refused the request.
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
    /// Maps a failed file operation.
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

    /// Maps a failed exchange.
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

    /// Creates the error of a refusal by status.
    init(refusedWith status: HTTPResponse.Status) {
        let isTransient = [408, 425, 429, 500, 502, 503, 504].contains(status.code)
        let code: Code = isTransient ? .unavailable : .refused
        self.init(code, "\(code.summary) Its status is \(status.code).", status: status)
    }
}
