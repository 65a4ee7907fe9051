/// What a command does with a store.
package enum StoreAccess: Hashable, Sendable {
    /// It reads; the store must be there.
    case reading
    /// It changes what is there; the store must be there.
    case changing
    /// It writes; a missing store is made.
    case creating
}
