/// The access of a command to a store.
package enum StoreAccess: Hashable, Sendable {
    /// Reads an existing store.
    case reading
    /// Changes an existing store.
    case changing
    /// Writes, and creates a missing store.
    case creating
}
