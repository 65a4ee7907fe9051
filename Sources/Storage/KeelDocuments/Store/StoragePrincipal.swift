/// The caller of a store, for access rules.
///
/// Adapters find the principal in their `StorageContext`. An adapter of your own can apply access rules; Keel's
/// adapters have none. A server determines the principal of each request.
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
