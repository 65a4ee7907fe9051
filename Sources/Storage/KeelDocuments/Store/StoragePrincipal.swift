/// The caller of a store, for access rules.
///
/// Adapters find it in their `StorageContext`. Keel's adapters have no access rules; an adapter of your own can apply
/// some. A server determines the principal of each request.
public struct StoragePrincipal: Sendable, Hashable {
    /// The permanent identifier, such as the `sub` claim of a token.
    public var id: String
    /// The attributes, such as the claims of a token.
    public var claims: DocumentFields

    /// Creates a principal.
    public init(id: String, claims: DocumentFields = [:]) {
        self.id = id
        self.claims = claims
    }
}
