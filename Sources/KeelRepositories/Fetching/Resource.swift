/// Something that can be fetched and kept: a thing, a list, an answer of any form.
///
/// ```swift
/// let menu = Resource("menus/42", tags: ["menus"]) {
///     try await remote.request(GetMenu(restaurant: "42"))
/// } read: {
///     try await menus.find("42")
/// } keep: {
///     try await menus.save($0)
/// }
/// let fetched = try await loader.load(menu, .cacheFirst(maxAge: .seconds(3600)))
/// ```
public struct Resource<Value: Sendable>: Sendable {
    /// What tells it from other resources of the loader, its parameters included.
    public let key: String

    /// The tags that invalidate it; its key is one by itself.
    public let tags: Set<String>

    /// What the source said, and how it is kept.
    struct Arrival: Sendable {
        let value: Value
        let keep: @Sendable () async throws(DataSourceError) -> Void
    }

    let fetch: @Sendable () async throws(DataSourceError) -> Arrival
    /// Returns what is kept, given whether a fetched value has been kept before.
    let read: @Sendable (_ wasKept: Bool) async throws(DataSourceError) -> Value?
    let forget: @Sendable () async throws(DataSourceError) -> Void

    /// Creates a resource.
    ///
    /// - Parameters:
    ///   - key: What tells it from other resources of the loader.
    ///   - tags: The tags that invalidate it.
    ///   - fetch: Asks the source.
    ///   - read: Returns what is kept, or nil.
    ///   - keep: Keeps what the source said.
    ///   - forget: Removes what is kept, because the source says that there is no such thing.
    public init(
        _ key: String,
        tags: Set<String> = [],
        fetch: @escaping @Sendable () async throws(DataSourceError) -> Value,
        read: @escaping @Sendable () async throws(DataSourceError) -> Value?,
        keep: @escaping @Sendable (Value) async throws(DataSourceError) -> Void,
        forget: @escaping @Sendable () async throws(DataSourceError) -> Void = {}
    ) {
        self.init(key, tags: tags) { () async throws(DataSourceError) in
            try await fetch()
        } readKept: { _ async throws(DataSourceError) in
            try await read()
        } keep: { value async throws(DataSourceError) in
            try await keep(value)
        } forget: { () async throws(DataSourceError) in
            try await forget()
        }
    }

    /// Creates a resource of which nothing can be kept, such as an empty list: what is read then
    /// depends on whether a fetched value has been kept before.
    init(
        _ key: String,
        tags: Set<String>,
        fetch: @escaping @Sendable () async throws(DataSourceError) -> Value,
        readKept: @escaping @Sendable (_ wasKept: Bool) async throws(DataSourceError) -> Value?,
        keep: @escaping @Sendable (Value) async throws(DataSourceError) -> Void,
        forget: @escaping @Sendable () async throws(DataSourceError) -> Void = {}
    ) {
        self.init(key: key, tags: tags.union([key])) { () async throws(DataSourceError) in
            let value = try await fetch()
            return Arrival(value: value) { () async throws(DataSourceError) in
                try await keep(value)
            }
        } read: { wasKept async throws(DataSourceError) in
            try await readKept(wasKept)
        } forget: { () async throws(DataSourceError) in
            try await forget()
        }
    }

    private init(
        key: String,
        tags: Set<String>,
        fetch: @escaping @Sendable () async throws(DataSourceError) -> Arrival,
        read: @escaping @Sendable (_ wasKept: Bool) async throws(DataSourceError) -> Value?,
        forget: @escaping @Sendable () async throws(DataSourceError) -> Void
    ) {
        self.key = key
        self.tags = tags
        self.fetch = fetch
        self.read = read
        self.forget = forget
    }

    /// The same resource as something else, usually a DTO as a thing of the domain.
    ///
    /// What is kept stays what it is. What cannot be mapped is an error, and is not kept.
    public func map<Other: Sendable>(
        _ transform: @escaping @Sendable (Value) throws(MappingError) -> Other
    ) -> Resource<Other> {
        let (fetch, read) = (fetch, read)
        @Sendable func mapped(_ value: Value) throws(DataSourceError) -> Other {
            do throws(MappingError) {
                return try transform(value)
            } catch {
                throw DataSourceError(error)
            }
        }
        return Resource<Other>(key: key, tags: tags) { () async throws(DataSourceError) in
            let arrival = try await fetch()
            return .init(value: try mapped(arrival.value), keep: arrival.keep)
        } read: { wasKept async throws(DataSourceError) in
            guard let value = try await read(wasKept) else { return nil }
            return try mapped(value)
        } forget: { [forget] () async throws(DataSourceError) in
            try await forget()
        }
    }
}
