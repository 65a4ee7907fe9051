import HTTPTypes
import KeelSecurityTools
import KeelStorage

extension TokenFile {
    /// Returns the caller of a request by its bearer token (RFC 6750).
    ///
    /// - Throws: `unauthenticated` for a request without a token, or with one that the file does not list.
    func principal(of head: HTTPRequest) throws(StorageError) -> StoragePrincipal {
        guard let credentials = head.headerFields[.authorization] else {
            throw StorageError(
                .unauthenticated,
                "the request has no token; send it as “Authorization: Bearer TOKEN”"
            )
        }
        let parts = credentials.split(separator: " ", maxSplits: 1)
        guard parts.count == 2, parts[0].lowercased() == "bearer",
            let name = name(of: String(parts[1].drop { $0 == " " }))
        else { throw StorageError(.unauthenticated, "the server does not know the token") }
        return StoragePrincipal(id: name)
    }
}
