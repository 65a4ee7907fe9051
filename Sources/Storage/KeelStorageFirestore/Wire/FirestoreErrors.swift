package import KeelStorageAdapting

private let domain: FirestoreJSON = "keel"

extension FirestoreEncoding {
    /// Encodes the body of an error: Google's form, with Keel's error code in the details, and with the HTTP status of
    /// the reply if it differs from that of `status`.
    package static func error(
        _ error: StorageError,
        status: FirestoreStatus,
        httpStatus: Int? = nil
    ) -> FirestoreJSON {
        let info = FirestoreJSON.members([
            "@type": "type.googleapis.com/google.rpc.ErrorInfo",
            // A server that is shutting down has closed its store, and is only temporarily unavailable to clients.
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
    /// Decodes the error of a reply from any server or proxy.
    ///
    /// - Parameters:
    ///   - httpStatus: The HTTP status of the reply.
    ///   - json: The body of the reply; nil if it is not JSON.
    ///   - isWrite: Whether the request may have changed the store, unless the reply says otherwise.
    /// - Returns: The error, with Keel's error code if the server sent it.
    package static func error(
        httpStatus: Int,
        _ json: FirestoreJSON?,
        isWrite: Bool
    ) -> StorageError {
        // Streaming methods send the error as an element of their list.
        let body = json?["error"] ?? json?.elements?.lazy.compactMap { $0["error"] }.first
        let message = body?["message"]?.text ?? "the server replied with status \(httpStatus)"
        let info = body?["details"]?.elements?.first { $0["domain"] == domain }
        guard let info, let name = info["reason"]?.text else {
            let code = body?["status"]?.text.map(FirestoreStatus.code) ?? code(of: httpStatus)
            let isOpen = isWrite && [.unknown, .timeout, .cancelled, .unavailable].contains(code)
            return StorageError(code, message, effect: isOpen ? .unknown : .none)
        }
        let metadata = info["metadata"]
        let codes = StorageError.Code.known + [.databaseNotFound]
        return StorageError(
            codes.first { $0.name == name } ?? .unknown,
            message,
            effect: metadata?["effect"] == "unknown" && isWrite ? .unknown : .none,
            resource: metadata?["resource"]?.text
        )
    }

    /// Returns the error code for an HTTP status without a meaningful body.
    ///
    /// A status such as 400 or 413 then comes from a proxy with settings of its own, and says nothing about the call:
    /// clients that find a write refused for good drop it.
    private static func code(of httpStatus: Int) -> StorageError.Code {
        switch httpStatus {
        case 401: .unauthenticated
        case 403: .permissionDenied
        case 408, 504: .timeout
        case 410: .cursorExpired
        case 429, 502, 503: .unavailable
        default: .unknown
        }
    }
}
