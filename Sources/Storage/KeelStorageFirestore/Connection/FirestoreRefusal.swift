internal import KeelStorageAdapting

struct FirestoreRefusal {
    private let httpStatus: Int
    private let json: FirestoreJSON?

    init(status: Int, _ json: FirestoreJSON?) {
        httpStatus = status
        self.json = json
    }

    private var body: FirestoreJSON? {
        json?["error"] ?? json?.elements?.lazy.compactMap { $0["error"] }.first
    }

    private var message: String { body?["message"]?.text ?? "" }
    private var status: String? { body?["status"]?.text }

    private var isDetailed: Bool {
        let domain: FirestoreJSON = "keel"
        return body?["details"]?.elements?.contains { $0["domain"] == domain } ?? false
    }

    func error(of call: FirestoreCall) -> StorageError { namedError(of: call).ofServer }

    private func namedError(of call: FirestoreCall) -> StorageError {
        let error = FirestoreDecoding.error(httpStatus: httpStatus, json, isWrite: call.isWrite)
        if status == "INVALID_ARGUMENT", isLaterUpdateTime {
            let path = error.resource ?? resource
            return StorageError(.conflict, message, resource: path, cause: LaterUpdateTime())
        }
        guard !isDetailed else { return error }
        guard let code = code(instead: error.code, of: call) else {
            return StorageError(
                error.code,
                described(error.message),
                effect: error.effect,
                resource: resource
            )
        }
        return StorageError(code, described(error.message), resource: resource)
    }

    /// Returns the specific code for a status of Google's that corresponds to several of Keel's codes; the request had
    /// no effect.
    private func code(
        instead code: StorageError.Code,
        of call: FirestoreCall
    ) -> StorageError.Code? {
        switch status {
        case "FAILED_PRECONDITION" where !call.isWrite && message.contains("index"):
            .indexRequired
        case "FAILED_PRECONDITION" where !call.isWrite && message.contains("does not support"):
            .unsupported
        case "FAILED_PRECONDITION" where !call.isWrite && message.contains("too old"):
            .snapshotTooOld
        // Only writes require existing documents; reads report missing documents in their result.
        case "NOT_FOUND" where !call.isWrite || message.hasPrefix("The database"):
            .databaseNotFound
        case "NOT_FOUND": call.codeForMissing
        // Outside of a transaction there is nothing to read again: the same request may succeed.
        case "ABORTED" where !call.isTransactional: .busy
        case "INVALID_ARGUMENT" where call.isTransactional && isOfEndedTransaction: .conflict
        default: nil
        }
    }

    /// Whether a condition's update time is later than the document's, in the words of Google's emulator or of Keel.
    private var isLaterUpdateTime: Bool {
        message.hasPrefix("Invalid base version") || message.hasPrefix(LaterUpdateTime.message)
    }

    /// Whether the server has ended the transaction, such as while the process was suspended.
    ///
    /// Google's clients tell it by the message too, and run the transaction again:
    /// https://github.com/googleapis/nodejs-firestore/pull/1347
    private var isOfEndedTransaction: Bool { message.contains("transaction has expired") }

    private func described(_ message: String) -> String {
        guard body == nil, httpStatus == 404 || httpStatus == 405 else { return message }
        return "\(message): it has no Firestore protocol at this address"
    }

    private var resource: String? {
        guard let place = message.firstRange(of: "/documents/") else { return nil }
        let path = message[place.upperBound...].prefix { !$0.isWhitespace && $0 != "\"" }
        return path.isEmpty ? nil : String(path)
    }
}
