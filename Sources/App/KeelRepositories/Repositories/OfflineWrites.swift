public import KeelSync

/// Sends a repository's offline changes to the service through an outbox.
///
/// ```swift
/// let offline = OfflineWrites<FavouriteDTO>(outbox) { change in
///     switch change {
///     case .save(let dto): try OutboxRequest(PutFavourite(dto))
///     case .delete(let id): try OutboxRequest(DeleteFavourite(id: id))
///     }
/// }
/// ```
///
/// Until the service has accepted a change, its responses do not replace the changed entity, and
/// the entity and the lists stay stale, so that the first read afterwards asks the service. A
/// rejected change moves to the outbox's `rejected()`, and the next fetch restores the service's
/// state; with the outbox's rejection `holdsKey` the change stays until it is resolved.
public struct OfflineWrites<DTO: Sendable>: Sendable {
    /// A change of one entity.
    public enum Change: Sendable {
        /// The entity is saved.
        case save(DTO)
        /// The entity is deleted.
        case delete(id: String)
    }

    /// The outbox for changes.
    public let outbox: Outbox

    let request: @Sendable (Change) throws(DataSourceError) -> OutboxRequest

    /// Creates a configuration for offline changes; `request` makes the request for a change.
    public init(
        _ outbox: Outbox,
        request: @escaping @Sendable (Change) throws -> OutboxRequest
    ) {
        self.outbox = outbox
        self.request = { change throws(DataSourceError) in
            try DataSourceError.mapping { try request(change) }
        }
    }
}
