/// Who asks a store for something, for rules to decide by.
///
/// Nothing in Keel decides by it yet.
public struct StoragePrincipal: Sendable, Hashable {
    /// The identifier by which the principal is known for good, such as the `sub` of a token.
    public var id: String
    /// What is known about the principal, such as the claims of a token.
    public var claims: DocumentFields

    /// Creates a principal.
    public init(id: String, claims: DocumentFields = [:]) {
        self.id = id
        self.claims = claims
    }
}
