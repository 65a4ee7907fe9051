public import KeelSync

/// Things of one kind, kept on this device and loaded from a service.
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
/// It is a building block: the app's own repository holds one, conforms to a protocol of its
/// domain, and maps ``RepositoryError`` to the domain's error.
///
/// - Reading goes by a ``FetchPolicy``. A list from the service replaces what is kept, except what
///   has a change that the service does not know yet.
/// - A loader with a ``ResourceMemory`` answers from memory what was read before: memory, then what
///   is kept, then the service.
/// - ``search(_:_:)`` asks the service for what words describe, ``query(where:_:)`` this device for
///   what a condition says.
/// - ``save(_:)`` and ``delete(_:)`` tell the service first and then change what is kept.
/// - ``saveOffline(_:)`` and ``deleteOffline(_:)`` change what is kept and put the request into an
///   outbox, in one batch where both are in one store.
public struct EntityRepository<Entity: Sendable>: Sendable {
    /// The name of the kind: the tag that invalidates everything here, and the beginning of the
    /// keys of the outbox.
    public let name: String

    /// The loader, which loads, keeps and tells who watches.
    public let loader: ResourceLoader

    let operations: EntityOperations<Entity>

    init(_ name: String, _ loader: ResourceLoader, _ operations: EntityOperations<Entity>) {
        self.name = name
        self.loader = loader
        self.operations = operations
    }

    // MARK: Reading

    /// Returns the thing with an id.
    ///
    /// - Throws: ``RepositoryError``, with the code `notFound` where the service has none.
    public func entity(
        _ id: String,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Entity {
        try await fetchedEntity(id, policy).value
    }

    /// Returns the thing with an id, and how current it is.
    ///
    /// - Throws: ``RepositoryError``.
    public func fetchedEntity(
        _ id: String,
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<Entity> {
        try await loader.load(one(id), policy)
    }

    /// Returns all things.
    ///
    /// - Throws: ``RepositoryError``.
    public func all(
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> [Entity] {
        try await fetchedAll(policy).value
    }

    /// Returns all things, and how current they are.
    ///
    /// - Throws: ``RepositoryError``.
    public func fetchedAll(
        _ policy: FetchPolicy = .cacheFirst()
    ) async throws(RepositoryError) -> Fetched<[Entity]> {
        try await loader.load(recipe(operations.all), policy)
    }

    /// Watches the thing with an id.
    public func observe(
        _ id: String,
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<Entity> {
        loader.observe(one(id), policy)
    }

    /// Watches all things.
    public func observeAll(
        _ policy: FetchPolicy = .cacheThenNetwork
    ) -> ResourceStates<[Entity]> {
        loader.observe(recipe(operations.all), policy)
    }

    /// Loads things that will be wanted soon; what fails is loaded when it is wanted.
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

    /// Tells the service to keep a thing, then keeps it here.
    ///
    /// If another user signs in while the call is under way, the service has the thing and this
    /// device does not keep it.
    ///
    /// - Returns: The thing as the service has it now, or as it was given.
    /// - Throws: ``RepositoryError``; nothing has then changed here.
    @discardableResult
    public func save(_ entity: Entity) async throws(RepositoryError) -> Entity {
        let owner = try await owner()
        let (saved, keep) = try await RepositoryError.mapping {
            try await operations.send(entity)
        }
        try await change(operations.id(entity)) { () async throws(DataSourceError) in
            if try await isHere(owner) { try await keep() }
        }
        return saved
    }

    /// Tells the service to remove a thing, then removes it here.
    ///
    /// One that the service does not have is removed here all the same.
    ///
    /// - Throws: ``RepositoryError``; nothing has then changed here.
    public func delete(_ id: String) async throws(RepositoryError) {
        let owner = try await owner()
        do throws(DataSourceError) {
            try await operations.sendDeletion(id)
        } catch {
            guard error.code == .notFound else { throw RepositoryError(error) }
        }
        try await change(id) { () async throws(DataSourceError) in
            if try await isHere(owner) { try await operations.deleteHere(id) }
        }
    }

    /// Keeps a thing here, and tells the service when it can be reached.
    ///
    /// - Returns: The receipt: the thing is on disk, and `server()` of the receipt waits for the
    ///   service.
    /// - Throws: ``RepositoryError``, `unsupported` without ``OfflineWrites``.
    @discardableResult
    public func saveOffline(_ entity: Entity) async throws(RepositoryError) -> OutboxReceipt {
        let owner = try await owner()
        let id = operations.id(entity)
        return try await change(id) { () async throws(DataSourceError) in
            try await loader.core.owners.confirm(owner, in: operations.home)
            return try await operations.enqueue(entity, names.outboxKey(id, owner))
        }
    }

    /// Removes a thing here, and tells the service when it can be reached.
    ///
    /// - Returns: The receipt.
    /// - Throws: ``RepositoryError``, `unsupported` without ``OfflineWrites``.
    @discardableResult
    public func deleteOffline(_ id: String) async throws(RepositoryError) -> OutboxReceipt {
        let owner = try await owner()
        return try await change(id) { () async throws(DataSourceError) in
            try await loader.core.owners.confirm(owner, in: operations.home)
            return try await operations.enqueueDeletion(id, names.outboxKey(id, owner))
        }
    }

    /// Marks everything here as out of date.
    ///
    /// - Throws: ``RepositoryError``.
    public func invalidate() async throws(RepositoryError) { try await loader.invalidate([name]) }

    private var names: EntityNames { EntityNames(name: name) }

    private func change<Value>(
        _ id: String,
        _ body: () async throws(DataSourceError) -> Value
    ) async throws(RepositoryError) -> Value {
        try await loader.write(invalidating: [name, names.key(id)], body)
    }

    func owner() async throws(RepositoryError) -> String? {
        try await RepositoryError.mapping {
            try await loader.core.owner(for: operations.home)
        }
    }

    /// Whether what is kept here is still that user's.
    private func isHere(_ owner: String?) async throws(DataSourceError) -> Bool {
        do throws(DataSourceError) {
            try await loader.core.owners.confirm(owner, in: operations.home)
            return true
        } catch {
            guard error.code == .unauthenticated else { throw error }
            return false
        }
    }
}
