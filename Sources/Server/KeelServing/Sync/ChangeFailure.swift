internal import HTTPTypes
internal import KeelCore
internal import KeelHTTP
internal import KeelStorage
internal import KeelStorageFirestore

struct ChangeFailure: Error {
    let error: StorageError
    let status: FirestoreStatus

    init(_ error: StorageError, status: FirestoreStatus? = nil) {
        self.error = error
        let usual: FirestoreStatus = error.isTransient ? .unavailable : FirestoreStatus(error)
        self.status = status ?? usual
    }

    static func noScope(_ name: String) -> Self {
        Self(
            StorageError(.documentNotFound, "unknown scope “\(name)”; the only scope is “all”"),
            status: .notFound
        )
    }

    init(_ refusal: ChangeHub.Refusal) {
        switch refusal {
        case .isFull(let refusal):
            self.init(StorageError(.unavailable, refusal.message), status: .resourceExhausted)
        case .isShutDown:
            self.init(StorageError(.unavailable, "the server is shutting down; try again soon"))
        }
    }

    /// The error reply in JSON, with `Retry-After` if a retry may succeed.
    var reply: HTTPReply {
        var reply = HTTPReply.bytes(
            HTTPResponse.Status(code: status.httpStatus),
            type: "application/json",
            FirestoreEncoding.error(error, status: status).bytes
        )
        reply.head.headerFields[.cacheControl] = "no-store"
        if [.resourceExhausted, .unavailable].contains(status) {
            reply.head.headerFields[.retryAfter] = status == .unavailable ? "1" : "10"
        }
        return reply
    }
}
