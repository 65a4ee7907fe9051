public import KeelSync

/// How a repository's changes reach the service when nobody answers now: through an outbox.
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
/// Until the service has taken a change, what it says of that thing does not replace what is here. A
/// change that it refuses for good waits in the outbox's `rejected()`, and the next fetch shows the
/// service's state again; with the outbox's rejection `holdsKey` the change stays until somebody
/// decides.
public struct OfflineWrites<DTO: Sendable>: Sendable {
    /// A change of one thing.
    public enum Change: Sendable {
        /// It is to be kept as it is here.
        case save(DTO)
        /// It is to be removed.
        case delete(id: String)
    }

    /// Where changes wait for the service.
    public let outbox: Outbox

    let request: @Sendable (Change) throws(DataSourceError) -> OutboxRequest

    /// Creates a way for changes.
    ///
    /// - Parameters:
    ///   - outbox: Where changes wait for the service.
    ///   - request: The request that tells the service of a change.
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
