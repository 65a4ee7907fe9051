public import KeelStorage

/// Something that can be fetched and kept: a thing, a list, an answer of any form.
///
/// ```swift
/// let menu = Resource("menus/42", tags: ["menus"]) {
///     try await remote.request(GetMenu(restaurant: "42"))
/// } read: {
///     try await menus.find("42")
/// } keep: {
///     try await menus.save([$0])
/// }
/// let fetched = try await loader.load(menu, .cacheFirst(maxAge: .seconds(3600)))
/// ```
///
/// A loader with a ``ResourceMemory`` remembers what `read` returned. What is kept is then changed
/// through ``ResourceLoader/write(invalidating:_:)``, or in a collection that
/// ``following(_:)`` names.
public struct Resource<Value: Sendable>: Sendable {
    /// A key that no other resource of the loader has; it includes the parameters.
    public let key: String

    /// The tags that invalidate it; its key is one by itself.
    public let tags: Set<String>

    /// What the source said, and how it is kept.
    struct Arrival: Sendable {
        let value: Value
        /// The tags of what is kept otherwise than before, once this is kept.
        let changes: Set<String>
        let keep: @Sendable () async throws(DataSourceError) -> Void
    }

    let fetch: @Sendable () async throws(DataSourceError) -> Arrival
    let read: @Sendable (KeptQuestion) async throws(DataSourceError) -> KeptCopy<Value>
    let forget: @Sendable () async throws(DataSourceError) -> Void
    /// Where the store tells of changes to what is kept; nil where nobody but the loader changes it.
    private(set) var scope: StoreScope?
    /// The tags of what is kept otherwise than before, once this is forgotten.
    private(set) var forgets: Set<String>
    /// Whether it is remembered only by the process when it was fetched.
    private(set) var isPassing = false
    /// Whether having kept it once outlasts its invalidation, as for a list that can be empty.
    private(set) var outlastsInvalidation = false
    /// Finds the copy of what it was mapped from; nil for what was not mapped.
    private(set) var origin:
        (@Sendable (ResourceCore, Resource) async throws(DataSourceError) -> Remembered<Value>)?
    /// Who is signed in, where the loader keeps users apart.
    private(set) var owner: String?
    /// Where one user's things are kept at a time.
    private(set) var home: ResourceHome?

    /// The key, apart for each user.
    var place: String { owner.map { "\($0) \(key)" } ?? key }

    /// Creates a resource.
    ///
    /// - Parameters:
    ///   - key: A key that no other resource of the loader has.
    ///   - tags: The tags that invalidate it.
    ///   - fetch: Asks the source.
    ///   - read: Returns what is kept, or nil.
    ///   - keep: Keeps what the source said.
    ///   - forget: Removes what is kept, because the source says that there is no such thing.
    ///
    /// The closures may throw anything: ``DataSourceError`` says what it means.
    public init(
        _ key: String,
        tags: Set<String> = [],
        fetch: @escaping @Sendable () async throws -> Value,
        read: @escaping @Sendable () async throws -> Value?,
        keep: @escaping @Sendable (Value) async throws -> Void,
        forget: @escaping @Sendable () async throws -> Void = {}
    ) {
        let tags = tags.union([key])
        self.init(key, tags: tags) { () async throws(DataSourceError) in
            let value = try await DataSourceError.remote(fetch)
            return Arrival(value: value, changes: tags) { () async throws(DataSourceError) in
                try await DataSourceError.local { try await keep(value) }
            }
        } read: { _ async throws(DataSourceError) in
            KeptCopy(try await DataSourceError.local(read))
        } forget: { () async throws(DataSourceError) in
            try await DataSourceError.local(forget)
        }
    }

    /// Creates a resource whose copy says where and how large it is.
    init(
        _ key: String,
        tags: Set<String>,
        fetch: @escaping @Sendable () async throws(DataSourceError) -> Arrival,
        read: @escaping @Sendable (KeptQuestion) async throws(DataSourceError) -> KeptCopy<Value>,
        forget: @escaping @Sendable () async throws(DataSourceError) -> Void
    ) {
        self.key = key
        self.tags = tags.union([key])
        self.fetch = fetch
        self.read = read
        self.forget = forget
        forgets = self.tags
    }

    /// The same resource, kept in a collection that others change too.
    ///
    /// A ``ResourceMemory`` follows the collection's changes, whoever makes them: another repository,
    /// another process. Without a memory this changes nothing.
    public func following<Element>(_ collection: DocumentCollection<Element>) -> Resource {
        let read = read
        let scope = StoreScope(client: collection.client, collection: collection.path)
        let followed = Resource(key, tags: tags, fetch: fetch) {
            question async throws(DataSourceError) in
            // Before the copy is read: what changes from now on may be missing in it.
            let position = question.wantsPosition ? try await scope.position() : nil
            return try await read(question).at(position)
        } forget: { [forget] () async throws(DataSourceError) in
            try await forget()
        }
        return followed.like(self).with { $0.scope = scope }
    }

    /// The same resource as something else, usually a DTO as a thing of the domain.
    ///
    /// The store and memory keep the value as it was before the mapping. A value that cannot be mapped
    /// is an error and is not kept. Callers that fetch one key as one type at the same time share the
    /// result that the first of them maps.
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

    /// The same as ``map(_:)``, where all who use the key map it like this: what was mapped is
    /// remembered.
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
                keep: arrival.keep
            )
        } read: { question async throws(DataSourceError) in
            try await read(question).map(mapped)
        } forget: { [forget] () async throws(DataSourceError) in
            try await forget()
        }
        return other.like(self)
    }

    // MARK: Variants

    /// The same resource for one user.
    func owned(by owner: String?, in home: ResourceHome? = nil) -> Resource {
        with { resource in
            resource.owner = owner
            resource.home = home
        }
    }

    /// The same resource, kept where a store tells of changes.
    func kept(in scope: StoreScope?) -> Resource { with { $0.scope = scope } }

    /// The same resource, whose forgetting changes less than all that has its tags.
    func forgetting(_ tags: Set<String>) -> Resource { with { $0.forgets = tags } }

    /// The same resource, remembered only by the process when it was fetched.
    func passing() -> Resource { with { $0.isPassing = true } }

    /// The same resource, whose having been kept once outlasts its invalidation.
    func outlastingInvalidation() -> Resource { with { $0.outlastsInvalidation = true } }

    private func like<Other>(_ other: Resource<Other>) -> Resource {
        with { resource in
            resource.scope = other.scope
            resource.forgets = other.forgets
            resource.isPassing = other.isPassing
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

/// Makes a resource for whoever is signed in.
struct ResourceRecipe<Value: Sendable>: Sendable {
    var home: ResourceHome?
    let make: @Sendable (_ owner: String?) -> Resource<Value>

    func resource(for owner: String?) -> Resource<Value> { make(owner).owned(by: owner, in: home) }
}

/// Where the things of one user are kept at a time.
struct ResourceHome: Sendable {
    let name: String
    /// Removes everything, before another user's things come.
    let empty: @Sendable () async throws(DataSourceError) -> Void
}
