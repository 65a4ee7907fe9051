public import KeelStorage

/// A value that can be fetched and kept: an entity, a list, or any other response.
///
/// ```swift
/// let menu = Resource("menus/42", tags: ["menus"]) {
///     try await remote.request(GetMenu(restaurant: "42"))
/// } read: {
///     try await menus.find("42")
/// } store: {
///     try await menus.save([$0])
/// }
/// let fetched = try await loader.load(menu, .cacheFirst(maxAge: .seconds(3600)))
/// ```
///
/// A loader with a ``ResourceMemory`` caches the result of `read`. Later changes must then go through
/// ``ResourceLoader/write(invalidating:_:)``, or to a collection set with ``following(_:)``.
public struct Resource<Value: Sendable>: Sendable {
    /// A key that is unique within the loader, including parameters.
    public let key: String

    /// The tags that invalidate the resource, including its key.
    public let tags: Set<String>

    struct Arrival: Sendable {
        let value: Value
        /// The tags of resources whose copies change when this is stored.
        let changes: Set<String>
        /// Whether the service may have lacked changes of this device, so that the value does not count as fetched.
        var isEarly = false
        let store: @Sendable () async throws(DataSourceError) -> Void
    }

    let fetch: @Sendable () async throws(DataSourceError) -> Arrival
    let read: @Sendable (KeptQuestion) async throws(DataSourceError) -> KeptCopy<Value>
    let remove: @Sendable () async throws(DataSourceError) -> Void
    /// Where the store reports changes to the copy; nil if only the loader changes it.
    private(set) var scope: StoreScope?
    /// The tags of resources whose copies change when this is removed.
    private(set) var forgets: Set<String>
    /// Whether the fetch time is stored only in memory.
    private(set) var isTransient = false
    /// Whether an invalidated copy counts as kept, as for a list that may be empty.
    private(set) var outlastsInvalidation = false
    /// Finds the copy that this was mapped from; nil if it was not mapped.
    private(set) var origin:
        (@Sendable (ResourceCore, Resource) async throws(DataSourceError) -> Remembered<Value>)?
    private(set) var owner: String?
    /// The place that holds one user's values at a time.
    private(set) var home: ResourceHome?

    /// The key, separate for each user.
    var place: String { owner.map { "\($0) \(key)" } ?? key }

    /// Creates a resource.
    ///
    /// - Parameters:
    ///   - key: A key that is unique within the loader.
    ///   - tags: The tags that invalidate the resource.
    ///   - fetch: Fetches the value from the source.
    ///   - read: Returns the kept copy, or nil.
    ///   - store: Stores a fetched value.
    ///   - remove: Removes the kept copy, because the source no longer has the value.
    ///
    /// The closures can throw any error; ``DataSourceError`` converts it.
    public init(
        _ key: String,
        tags: Set<String> = [],
        fetch: @escaping @Sendable () async throws -> Value,
        read: @escaping @Sendable () async throws -> Value?,
        store: @escaping @Sendable (Value) async throws -> Void,
        remove: @escaping @Sendable () async throws -> Void = {}
    ) {
        let tags = tags.union([key])
        self.init(key, tags: tags) { () async throws(DataSourceError) in
            let value = try await DataSourceError.remote(fetch)
            return Arrival(value: value, changes: tags) { () async throws(DataSourceError) in
                try await DataSourceError.local { try await store(value) }
            }
        } read: { _ async throws(DataSourceError) in
            KeptCopy(try await DataSourceError.local(read))
        } remove: { () async throws(DataSourceError) in
            try await DataSourceError.local(remove)
        }
    }

    /// Creates a resource whose copy has a position and a size.
    init(
        _ key: String,
        tags: Set<String>,
        fetch: @escaping @Sendable () async throws(DataSourceError) -> Arrival,
        read: @escaping @Sendable (KeptQuestion) async throws(DataSourceError) -> KeptCopy<Value>,
        remove: @escaping @Sendable () async throws(DataSourceError) -> Void
    ) {
        self.key = key
        self.tags = tags.union([key])
        self.fetch = fetch
        self.read = read
        self.remove = remove
        forgets = self.tags
    }

    /// Returns the resource, kept in a collection that others can change.
    ///
    /// A ``ResourceMemory`` follows all changes to the collection. Without a memory this has no effect.
    public func following<Element>(_ collection: DocumentCollection<Element>) -> Resource {
        let read = read
        let scope = StoreScope(client: collection.client, collection: collection.path)
        let followed = Resource(key, tags: tags, fetch: fetch) {
            question async throws(DataSourceError) in
            // Before the copy is read, as it may lack later changes.
            let position = question.wantsPosition ? try await scope.position() : nil
            return try await read(question).at(position)
        } remove: { [remove] () async throws(DataSourceError) in
            try await remove()
        }
        return followed.like(self).with { $0.scope = scope }
    }

    /// Returns a transformed resource, usually a DTO mapped to a domain value.
    ///
    /// The store and memory keep the original value. A value that cannot be mapped is an error and is not kept.
    /// Concurrent fetches of a key as the same type share a mapping.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> Resource<Other> {
        let base = self
        return mapAlways(transform).with { mapped in
            mapped.origin = { core, mapped async throws(DataSourceError) in
                try await core.copy(of: base.like(mapped)).map { value throws(DataSourceError) in
                    try DataSourceError.mapping { try transform(value) }
                }
            }
        }
    }

    /// Like ``map(_:)``, for keys with only one mapping: the mapped value is cached.
    func mapAlways<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws -> Other
    ) -> Resource<Other> {
        let (fetch, read) = (fetch, read)
        @Sendable func mapped(_ value: Value) throws(DataSourceError) -> Other {
            try DataSourceError.mapping { try transform(value) }
        }
        let other = Resource<Other>(key, tags: tags) { () async throws(DataSourceError) in
            let arrival = try await fetch()
            return .init(
                value: try mapped(arrival.value),
                changes: arrival.changes,
                isEarly: arrival.isEarly,
                store: arrival.store
            )
        } read: { question async throws(DataSourceError) in
            try await read(question).map(mapped)
        } remove: { [remove] () async throws(DataSourceError) in
            try await remove()
        }
        return other.like(self)
    }

    // MARK: Variants

    func owned(by owner: String?, in home: ResourceHome? = nil) -> Resource {
        with { resource in
            resource.owner = owner
            resource.home = home
        }
    }

    func kept(in scope: StoreScope?) -> Resource { with { $0.scope = scope } }

    func forgetting(_ tags: Set<String>) -> Resource { with { $0.forgets = tags } }

    func transient() -> Resource { with { $0.isTransient = true } }

    func outlastingInvalidation() -> Resource { with { $0.outlastsInvalidation = true } }

    private func like<Other>(_ other: Resource<Other>) -> Resource {
        with { resource in
            resource.scope = other.scope
            resource.forgets = other.forgets
            resource.isTransient = other.isTransient
            resource.outlastsInvalidation = other.outlastsInvalidation
            resource.owner = other.owner
            resource.home = other.home
        }
    }

    fileprivate func with(_ change: (inout Resource) -> Void) -> Resource {
        var changed = self
        change(&changed)
        return changed
    }
}

struct ResourceRecipe<Value: Sendable>: Sendable {
    var home: ResourceHome?
    let make: @Sendable (_ owner: String?) -> Resource<Value>

    func resource(for owner: String?) -> Resource<Value> { make(owner).owned(by: owner, in: home) }
}

/// A place that holds the values of one user at a time.
struct ResourceHome: Sendable {
    let name: String
    /// Removes all values, before another user's arrive.
    let empty: @Sendable () async throws(DataSourceError) -> Void
}
