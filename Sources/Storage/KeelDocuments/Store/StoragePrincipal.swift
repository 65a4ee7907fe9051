/// The caller of a store, for access rules.
///
/// Adapters find it in their `StorageContext`, and may have access rules; Keel's own have none. A server determines it
/// for each request.
public struct StoragePrincipal: Sendable, Hashable {
    /// The permanent identifier of the principal, such as the `sub` claim of a token.
    public var id: String
    /// The attributes of the principal, such as the claims of a token.
    public var claims: DocumentFields

    /// Creates a principal.
    public init(id: String, claims: DocumentFields = [:]) {
        self.id = id
        self.claims = claims
    }
}
