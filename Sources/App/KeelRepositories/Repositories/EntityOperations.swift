internal import KeelSync

/// The operations of a repository on its sources, with their types erased.
///
/// An owner is the signed-in user; nil if the loader does not separate users.
struct EntityOperations<Entity: Sendable>: Sendable {
    typealias Keep = @Sendable () async throws(DataSourceError) -> Void

    let home: ResourceHome
    let one: @Sendable (_ id: String, _ owner: String?) -> Resource<Entity>
    let all: @Sendable (_ owner: String?) -> Resource<[Entity]>
    let search: @Sendable (_ words: String, _ owner: String?) -> Resource<[Entity]>
    /// Whether all entities are kept: like ``all``, without reading them.
    let presence: @Sendable (_ owner: String?) -> Resource<EntitiesAreHere>
    /// Finds kept entities by a predicate over DTOs, whose type is checked at run time.
    let find: @Sendable (_ predicate: any Sendable) async throws(DataSourceError) -> [Entity]
    let id: @Sendable (Entity) -> String
    /// Sends an entity to the service, and returns a closure that keeps the response.
    let send: @Sendable (Entity, _ owner: String?) async throws(DataSourceError) -> (Entity, Keep)
    let sendDeletion: @Sendable (String, _ owner: String?) async throws(DataSourceError) -> Void
    let deleteHere: @Sendable (String, _ owner: String?) async throws(DataSourceError) -> Void
    let enqueue: @Sendable (Entity, _ owner: String?) async throws(DataSourceError) -> OutboxReceipt
    let enqueueDeletion:
        @Sendable (String, _ owner: String?) async throws(DataSourceError) -> OutboxReceipt
}

struct EntitiesAreHere: Sendable {}

struct EntityNames: Sendable {
    let name: String

    /// The tag of all lists, and the key of the list of all entities.
    var lists: String { "\(name)/" }

    func key(_ id: String) -> String { "\(name)/\(id)" }

    /// The key of a search, which no id can produce.
    func key(searching words: String) -> String { "\(name)?\(words)" }

    /// The key for an entity's changes in an outbox, separate for each user.
    func outboxKey(_ id: String, _ owner: String?) -> String {
        owner.map { "\(key(id)) of \($0)" } ?? key(id)
    }

    /// Whether one of these keys in an outbox is that of a user's change of an entity.
    func hasChange(in keys: some Sequence<String>, of owner: String?) -> Bool {
        keys.contains { $0.hasPrefix(lists) && $0.hasSuffix(owner.map { " of \($0)" } ?? "") }
    }
}
