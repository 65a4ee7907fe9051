public import KeelSync

/// A repository of entities of one kind, which are loaded from a service and kept on the device.
///
/// ```swift
/// let restaurants = EntityRepository<Restaurant>(
///     "restaurants",
///     remote: remote,
///     local: CollectionDataSource(storage.collection("restaurants", as: RestaurantDTO.self)),
///     loader: loader
/// ) { $0.id }
/// let restaurant = try await restaurants.entity("42", .cacheFirst(maxAge: .seconds(3600)))
/// for await state in restaurants.observeAll() { show(state) }
/// ```
///
/// - Reads follow a ``FetchPolicy``. A list from the service replaces the kept entities, except
///   those with unsent changes. A response never replaces that of a later request.
/// - ``search(_:_:)`` searches the service; ``query(where:_:)`` evaluates a predicate on this device.
/// - ``save(_:)`` and ``delete(_:)`` call the service first and then change the kept entities.
/// - ``saveOffline(_:)`` and ``deleteOffline(_:)`` change the kept entities and add the request to
///   an outbox, in one batch if both are in one store.
public struct EntityRepository<Entity: Sendable>: Sendable {
    /// The name of the kind of entities, which is also the tag of its resources and the prefix of its outbox keys.
    public let name: String

    /// The loader.
    public let loader: ResourceLoader

    let operations: EntityOperations<Entity>

    init(_ name: String, _ loader: ResourceLoader, _ operations: EntityOperations<Entity>) {
        self.name = name
        self.loader = loader
        self.operations = operations
    }

    // MARK: Reading

    /// Returns the entity with an id.
    ///
    /// - Throws: ``RepositoryError``, with the code `notFound` if the service has none.
    public func entity(
        _ id: String,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Entity {
        try await fetchedEntity(id, policy).value
    }

    /// Returns the entity with an id and its freshness.
    ///
    /// - Throws: ``RepositoryError``, as from ``entity(_:_:)``.
    public func fetchedEntity(
        _ id: String,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<Entity> {
        try await loader.load(one(id), policy)
    }

    /// Returns all entities.
    ///
    /// - Throws: ``RepositoryError``, with the code `notCached` if the policy is ``FetchPolicy/cacheOnly`` and the
    ///   device has no copy of the list.
    public func all(
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedAll(policy).value
    }

    /// Returns all entities and their freshness.
    ///
    /// - Throws: ``RepositoryError``, as from ``all(_:)``.
    public func fetchedAll(
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        try await loader.load(recipe(operations.all), policy)
    }

    /// Returns the states of the entity with an id.
    public func observe(
        _ id: String,
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<Entity> {
        loader.observe(one(id), policy)
    }

    /// Returns the states of all entities.
    public func observeAll(
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<[Entity]> {
        loader.observe(recipe(operations.all), policy)
    }

    /// Returns a prefetcher for entities.
    public func prefetcher(limit: Int = 2) -> Prefetcher<String> {
        let repository = self
        return Prefetcher(limit: limit) { id in _ = try await repository.entity(id) }
    }

    private func one(_ id: String) -> ResourceRecipe<Entity> {
        let operations = operations
        return recipe { operations.one(id, $0) }
    }

    func recipe<Value>(
        _ make: @escaping @Sendable (String?) -> Resource<Value>
    ) -> ResourceRecipe<Value> {
        ResourceRecipe(home: operations.home, make: make)
    }

    // MARK: Writing

    /// Sends an entity to the service, then stores it on the device.
    ///
    /// The request is sent only for the current user, unless a closure sends it: see ``RemoteEntities``. If another
    /// user signs in during the call, the entity is not stored on the device.
    ///
    /// - Returns: The entity from the service's response, or the given one.
    /// - Throws: ``RepositoryError``. The device's copy is then unchanged, but marked stale if the service may have
    ///   changed the entity. The code is `conflict` while an earlier change of the entity is in the outbox.
    @discardableResult
    public func save(_ entity: Entity) async throws(RepositoryError) -> Entity {
        let owner = try await owner()
        let id = operations.id(entity)
        let sent: (entity: Entity, keep: EntityOperations<Entity>.Keep)
        do throws(DataSourceError) {
            sent = try await operations.send(entity, owner)
        } catch {
            await distrustCopies(of: id, after: error)
            throw RepositoryError(error)
        }
        try await change(id) { () async throws(DataSourceError) in
            if try await isHere(owner) { try await sent.keep() }
        }
        return sent.entity
    }

    /// Deletes an entity at the service, then on the device.
    ///
    /// If the service does not have the entity, it is still deleted on the device.
    ///
    /// - Throws: ``RepositoryError``, as from ``save(_:)``.
    public func delete(_ id: String) async throws(RepositoryError) {
        let owner = try await owner()
        do throws(DataSourceError) {
            try await operations.sendDeletion(id, owner)
        } catch {
            guard error.code == .notFound else {
                await distrustCopies(of: id, after: error)
                throw RepositoryError(error)
            }
        }
        try await change(id) { () async throws(DataSourceError) in
            if try await isHere(owner) { try await operations.deleteHere(id, owner) }
        }
    }

    /// Stores an entity on the device, and sends it when the service is reachable.
    ///
    /// - Returns: The receipt, once the entity is on disk; the receipt's `server()` waits for the service.
    /// - Throws: ``RepositoryError``, with the code `unsupported` without ``OfflineWrites``.
    @discardableResult
    public func saveOffline(_ entity: Entity) async throws(RepositoryError) -> OutboxReceipt {
        try await changeOffline(operations.id(entity)) { owner async throws(DataSourceError) in
            try await operations.enqueue(entity, owner)
        }
    }

    /// Deletes an entity on the device, and at the service when it is reachable.
    ///
    /// - Throws: ``RepositoryError``, with the code `unsupported` without ``OfflineWrites``.
    @discardableResult
    public func deleteOffline(_ id: String) async throws(RepositoryError) -> OutboxReceipt {
        try await changeOffline(id) { owner async throws(DataSourceError) in
            try await operations.enqueueDeletion(id, owner)
        }
    }

    /// Removes all entities from the device.
    ///
    /// Nothing counts as loaded afterwards, not even an empty list. Unsent changes stay in the outbox.
    ///
    /// - Throws: ``RepositoryError`` if the store on this device fails.
    public func removeAll() async throws(RepositoryError) {
        try await RepositoryError.mapping {
            try await loader.core.empty(operations.home)
        }
    }

    /// Invalidates all resources of the repository; observers load them again.
    public func invalidate() async throws(RepositoryError) { try await loader.invalidate([name]) }

    private var names: EntityNames { EntityNames(name: name) }

    private func change<Value>(
        _ id: String,
        _ body: () async throws(DataSourceError) -> Value
    ) async throws(RepositoryError) -> Value {
        try await loader.write(invalidating: [name, names.key(id)], body)
    }

    private func changeOffline(
        _ id: String,
        _ enqueue: (_ owner: String?) async throws(DataSourceError) -> OutboxReceipt
    ) async throws(RepositoryError) -> OutboxReceipt {
        let owner = try await owner()
        return try await change(id) { () async throws(DataSourceError) in
            try await loader.core.confirm(owner, in: operations.home)
            // First, as the process may end before the copies have changed, or before `change` invalidates them.
            try await loader.core.ledger.invalidate([name, names.key(id)])
            return try await enqueue(owner)
        }
    }

    /// Invalidates copies if a failed call may have changed the entity at the service.
    private func distrustCopies(of id: String, after error: DataSourceError) async {
        guard error.mayHaveTakenEffect else { return }
        try? await loader.core.invalidate([name, names.key(id)])
    }

    func owner() async throws(RepositoryError) -> String? {
        try await RepositoryError.mapping {
            try await loader.core.owner(for: operations.home)
        }
    }

    /// Whether the kept entities still belong to the user.
    private func isHere(_ owner: String?) async throws(DataSourceError) -> Bool {
        do throws(DataSourceError) {
            try await loader.core.confirm(owner, in: operations.home)
            return true
        } catch {
            guard error.code == .unauthenticated else { throw error }
            return false
        }
    }
}
