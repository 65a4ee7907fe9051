package import KeelStorageAdapting

/// The domain of the `google.rpc.ErrorInfo` that names Keel's own code.
private let domain: FirestoreJSON = "keel"

extension FirestoreEncoding {
    /// The body of an error: Google's form, with Keel's own code among the details.
    ///
    /// - Parameters:
    ///   - error: The error.
    ///   - status: What the protocol calls it.
    ///   - httpStatus: The reply's status, where it is another than the protocol's.
    /// - Returns: The message.
    package static func error(
        _ error: StorageError,
        status: FirestoreStatus,
        httpStatus: Int? = nil
    ) -> FirestoreJSON {
        let info = FirestoreJSON.members([
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            // A server that is being stopped has closed its store; to a client it is away for a while.
            "reason": .string((error.code == .closed ? .unavailable : error.code).name),
            "domain": domain,
            "metadata": .members([
                "effect": error.effect == .none ? "none" : "unknown",
                "resource": error.resource.map(FirestoreJSON.string),
            ]),
        ])
        return [
            "error": [
                "code": .integer(Int64(httpStatus ?? status.httpStatus)),
                "message": .string(error.message),
                "status": .string(status.name),
                "details": [info],
            ]
        ]
    }
}

extension FirestoreDecoding {
    /// The error that a reply tells of, whoever sent it.
    ///
    /// - Parameters:
    ///   - httpStatus: The reply's status.
    ///   - json: The reply's body, nil if it is not JSON: then a proxy may have sent it.
    ///   - isWrite: Whether the request may have changed the store, where the reply leaves it open.
    /// - Returns: The error, with Keel's own code where the server is Keel's.
    package static func error(
        httpStatus: Int,
        _ json: FirestoreJSON?,
        isWrite: Bool
    ) -> StorageError {
        // Streaming methods put the error into the list that they would have replied with.
        let body = json?["error"] ?? json?.elements?.lazy.compactMap { $0["error"] }.first
        let message = body?["message"]?.text ?? "the server replied with status \(httpStatus)"
        let info = body?["details"]?.elements?.first { $0["domain"] == domain }
        guard let info, let name = info["reason"]?.text else {
            let code = body?["status"]?.text.map(FirestoreStatus.code) ?? code(of: httpStatus)
            let isOpen = isWrite && [.unknown, .timeout, .cancelled, .unavailable].contains(code)
            return StorageError(code, message, effect: isOpen ? .unknown : .none)
        }
        let metadata = info["metadata"]
        return StorageError(
            StorageError.Code.known.first { $0.name == name } ?? .unknown,
            message,
            effect: metadata?["effect"] == "unknown" && isWrite ? .unknown : .none,
            resource: metadata?["resource"]?.text
        )
    }

    /// The code for a status of HTTP without a body that says more.
    private static func code(of httpStatus: Int) -> StorageError.Code {
        switch httpStatus {
        case 400, 413, 414, 431: .invalidArgument
        case 401: .unauthenticated
        case 403: .permissionDenied
        case 408, 504: .timeout
        case 410: .cursorExpired
        case 501: .unsupported
        case 429, 502, 503: .unavailable
        default: .unknown
        }
    }
}
