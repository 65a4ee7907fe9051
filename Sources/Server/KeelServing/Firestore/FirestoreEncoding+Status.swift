import KeelStorage
import KeelStorageFirestore

extension FirestoreEncoding {
    /// Encodes a `google.rpc.Status`, the result of a single write in `batchWrite`.
    static func status(_ error: StorageError) -> FirestoreJSON {
        StreamFailure(error).json
    }
}

extension FirestoreStatus {
    /// The number of the status in google/rpc/code.proto.
    var number: Int64 {
        switch self {
        case .cancelled: 1
        case .invalidArgument: 3
        case .deadlineExceeded: 4
        case .notFound: 5
        case .alreadyExists: 6
        case .permissionDenied: 7
        case .resourceExhausted: 8
        case .failedPrecondition: 9
        case .aborted: 10
        case .outOfRange: 11
        case .unimplemented: 12
        case .internal: 13
        case .unavailable: 14
        case .dataLoss: 15
        case .unauthenticated: 16
        default: 2
        }
    }
}
