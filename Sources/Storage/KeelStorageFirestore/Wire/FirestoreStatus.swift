package import KeelStorageAdapting

/// A status of `google.rpc.Code` in an error of the protocol.
///
/// Names and numbers are those of googleapis, google/rpc/code.proto.
package struct FirestoreStatus: Sendable, Hashable {
    package let name: String
    package let httpStatus: Int

    private init(_ name: String, _ httpStatus: Int) {
        self.name = name
        self.httpStatus = httpStatus
    }

    package static let cancelled = Self("CANCELLED", 499)
    package static let invalidArgument = Self("INVALID_ARGUMENT", 400)
    package static let deadlineExceeded = Self("DEADLINE_EXCEEDED", 504)
    package static let notFound = Self("NOT_FOUND", 404)
    package static let alreadyExists = Self("ALREADY_EXISTS", 409)
    package static let permissionDenied = Self("PERMISSION_DENIED", 403)
    package static let resourceExhausted = Self("RESOURCE_EXHAUSTED", 429)
    package static let failedPrecondition = Self("FAILED_PRECONDITION", 400)
    package static let aborted = Self("ABORTED", 409)
    package static let outOfRange = Self("OUT_OF_RANGE", 410)
    package static let unimplemented = Self("UNIMPLEMENTED", 501)
    package static let `internal` = Self("INTERNAL", 500)
    package static let unavailable = Self("UNAVAILABLE", 503)
    package static let dataLoss = Self("DATA_LOSS", 500)
    package static let unauthenticated = Self("UNAUTHENTICATED", 401)
}

extension FirestoreStatus {
    /// Creates the status for an error outside of transactions.
    package init(_ error: StorageError) {
        // Google calls an update time that the document has not reached an invalid argument.
        let isLater = error.cause is LaterUpdateTime
        self = isLater ? .invalidArgument : Self.status(for: error.code)
    }

    private static func status(for code: StorageError.Code) -> Self {
        byCode.first { $0.code == code }?.status ?? .internal
    }

    private static let byCode: [(code: StorageError.Code, status: FirestoreStatus)] = [
        (.documentNotFound, .notFound), (.alreadyExists, .alreadyExists),
        (.conflict, .failedPrecondition), (.invalidArgument, .invalidArgument),
        (.encodingFailed, .invalidArgument), (.decodingFailed, .invalidArgument),
        (.tooLarge, .invalidArgument), (.unsupported, .unimplemented),
        (.indexRequired, .failedPrecondition), (.readOnly, .failedPrecondition),
        (.schemaTooNew, .failedPrecondition), (.unauthenticated, .unauthenticated),
        (.permissionDenied, .permissionDenied), (.diskFull, .resourceExhausted),
        (.busy, .unavailable), (.closed, .unavailable), (.unavailable, .unavailable),
        (.timeout, .deadlineExceeded),
        (.cursorExpired, .outOfRange), (.snapshotTooOld, .failedPrecondition),
        (.corrupted, .dataLoss), (.cancelled, .cancelled),
    ]

    package static func code(named name: String) -> StorageError.Code {
        switch name {
        case "NOT_FOUND": .documentNotFound
        case "ALREADY_EXISTS": .alreadyExists
        case "FAILED_PRECONDITION", "ABORTED": .conflict
        case "INVALID_ARGUMENT": .invalidArgument
        case "UNIMPLEMENTED": .unsupported
        case "UNAUTHENTICATED": .unauthenticated
        case "PERMISSION_DENIED": .permissionDenied
        case "RESOURCE_EXHAUSTED", "UNAVAILABLE": .unavailable
        case "DEADLINE_EXCEEDED": .timeout
        case "OUT_OF_RANGE": .cursorExpired
        case "DATA_LOSS": .corrupted
        case "CANCELLED": .cancelled
        default: .unknown
        }
    }
}
