internal import KeelSync

/// What a repository does with its sources, whatever types these have.
///
/// An owner is who is signed in, nil where the loader does not keep users apart.
struct EntityOperations<Entity: Sendable>: Sendable {
    typealias Keep = @Sendable () async throws(DataSourceError) -> Void

    let home: ResourceHome
    let one: @Sendable (_ id: String, _ owner: String?) -> Resource<Entity>
    let all: @Sendable (_ owner: String?) -> Resource<[Entity]>
    let search: @Sendable (_ words: String, _ owner: String?) -> Resource<[Entity]>
    /// Whether all things are here: as ``all``, without reading them.
    let presence: @Sendable (_ owner: String?) -> Resource<EntitiesAreHere>
    /// Finds what is kept by a predicate over DTOs, whose type is known when it runs.
    let find: @Sendable (_ predicate: any Sendable) async throws(DataSourceError) -> [Entity]
    let id: @Sendable (Entity) -> String
    /// Tells the service; what is returned keeps the answer here.
    let send: @Sendable (Entity) async throws(DataSourceError) -> (Entity, Keep)
    let sendDeletion: @Sendable (String) async throws(DataSourceError) -> Void
    let deleteHere: @Sendable (String) async throws(DataSourceError) -> Void
    let enqueue: @Sendable (Entity, String) async throws(DataSourceError) -> OutboxReceipt
    let enqueueDeletion: @Sendable (String, String) async throws(DataSourceError) -> OutboxReceipt
}

/// All things of a kind have been loaded.
struct EntitiesAreHere: Sendable {}

/// The names of a repository's things.
struct EntityNames: Sendable {
    let name: String

    /// The tag of all lists, and the key of the list of all things.
    var lists: String { "\(name)/" }

    /// The key of a thing.
    func key(_ id: String) -> String { "\(name)/\(id)" }

    /// The key of the things that words describe; no id makes one of this form.
    func key(searching words: String) -> String { "\(name)?\(words)" }

    /// The key under which the changes of a thing wait in an outbox, apart for each user.
    func outboxKey(_ id: String, _ owner: String?) -> String {
        owner.map { "\(key(id)) of \($0)" } ?? key(id)
    }
}
