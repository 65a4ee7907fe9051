public import KeelHTTP

/// The operations that a service offers for entities of one kind.
///
/// ```swift
/// let remote = RemoteEntities<RestaurantDTO>(RemoteDataSource(client))
///     .find { GetRestaurant(id: $0) }
///     .all { GetRestaurants() }
///     .save { PutRestaurant($0) }
///     .delete { DeleteRestaurant(id: $0) }
///     .search { SearchRestaurants(words: $0) }
/// ```
///
/// Other operations fail with the code `unsupported`.
///
/// A request of an endpoint is sent only for the user of the call. A closure does not receive this user: if another
/// user signs in at that moment, the closure can load, save or delete as that user. Its response is not kept then, but
/// its change at the service is not undone: use endpoints to change the data of a user.
public struct RemoteEntities<DTO: Sendable>: Sendable {
    // Each call is sent only as the owner, if there is one.
    typealias Find = @Sendable (String, _ owner: String?) async throws(DataSourceError) -> DTO
    typealias All = @Sendable (_ owner: String?) async throws(DataSourceError) -> [DTO]
    typealias Save = @Sendable (DTO, _ owner: String?) async throws(DataSourceError) -> DTO?
    typealias Search =
        @Sendable (String, _ owner: String?) async throws(DataSourceError) -> FoundEntities<DTO>
    typealias Delete = @Sendable (String, _ owner: String?) async throws(DataSourceError) -> Void

    private let source: RemoteDataSource?
    private(set) var find: Find = { _, _ throws(DataSourceError) in throw .notOffered("find") }
    private(set) var all: All = { _ throws(DataSourceError) in throw .notOffered("all") }
    private(set) var save: Save = { _, _ throws(DataSourceError) in throw .notOffered("save") }
    private(set) var delete: Delete = { _, _ throws(DataSourceError) in
        throw .notOffered("delete")
    }
    private(set) var search: Search = { _, _ throws(DataSourceError) in
        throw .notOffered("search")
    }

    /// Creates a description without operations.
    public init(_ source: RemoteDataSource) { self.source = source }

    /// Creates a description for operations given as closures, for tests and SDKs.
    public init() { source = nil }

    // MARK: Endpoints

    /// Sets the endpoint that returns an entity.
    public func find<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable (String) -> E
    ) -> RemoteEntities where E.Response == DTO {
        let source = source
        return with {
            $0.find = { id, owner throws(DataSourceError) in
                try await source.required.request(endpoint(id), options: .fetching(for: owner))
            }
        }
    }

    /// Sets the endpoint that returns all entities.
    public func all<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable () -> E
    ) -> RemoteEntities where E.Response == [DTO] {
        let source = source
        return with {
            $0.all = { owner throws(DataSourceError) in
                try await source.required.request(endpoint(), options: .fetching(for: owner))
            }
        }
    }

    /// Sets the endpoint that saves an entity and returns it, or nothing.
    public func save<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable (DTO) -> E
    ) -> RemoteEntities {
        let source = source
        return with {
            $0.save = { dto, owner throws(DataSourceError) in
                try await source.required.request(endpoint(dto), options: .owned(by: owner)) as? DTO
            }
        }
    }

    /// Sets the endpoint that deletes an entity.
    public func delete<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable (String) -> E
    ) -> RemoteEntities {
        let source = source
        return with {
            $0.delete = { id, owner throws(DataSourceError) in
                _ = try await source.required.request(endpoint(id), options: .owned(by: owner))
            }
        }
    }

    /// Sets the endpoint that searches entities.
    public func search<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable (String) -> E
    ) -> RemoteEntities where E.Response == [DTO] {
        let source = source
        return with {
            $0.search = { words, owner throws(DataSourceError) in
                let found = try await source.required.request(
                    endpoint(words),
                    options: .fetching(for: owner)
                )
                return FoundEntities(elements: found, dropped: [])
            }
        }
    }

    /// Sets the endpoint that searches entities, omitting those that cannot be decoded.
    ///
    /// Omitted elements are reported to `onDropped` of the repository.
    public func search<E: Endpoint & SendableMetatype>(
        _ endpoint: @escaping @Sendable (String) -> E
    ) -> RemoteEntities where E.Response == LossyList<DTO> {
        let source = source
        return with {
            $0.search = { words, owner throws(DataSourceError) in
                let list = try await source.required.request(
                    endpoint(words),
                    options: .fetching(for: owner)
                )
                return FoundEntities(elements: list.elements, dropped: list.droppedElements)
            }
        }
    }

    // MARK: Closures

    /// Sets the closure that loads an entity.
    public func finding(
        _ operation: @escaping @Sendable (String) async throws -> DTO
    ) -> RemoteEntities {
        with {
            $0.find = { id, _ async throws(DataSourceError) in
                try await DataSourceError.remote { try await operation(id) }
            }
        }
    }

    /// Sets the closure that loads all entities, for example page by page.
    public func listing(
        _ operation: @escaping @Sendable () async throws -> [DTO]
    ) -> RemoteEntities {
        with {
            $0.all = { _ async throws(DataSourceError) in
                try await DataSourceError.remote(operation)
            }
        }
    }

    /// Sets the closure that saves an entity, and returns the service's version, if any.
    public func saving(
        _ operation: @escaping @Sendable (DTO) async throws -> DTO?
    ) -> RemoteEntities {
        with {
            $0.save = { dto, _ async throws(DataSourceError) in
                try await DataSourceError.remote { try await operation(dto) }
            }
        }
    }

    /// Sets the closure that deletes an entity.
    public func deleting(
        _ operation: @escaping @Sendable (String) async throws -> Void
    ) -> RemoteEntities {
        with {
            $0.delete = { id, _ async throws(DataSourceError) in
                try await DataSourceError.remote { try await operation(id) }
            }
        }
    }

    /// Sets the closure that searches entities.
    public func searching(
        _ operation: @escaping @Sendable (String) async throws -> [DTO]
    ) -> RemoteEntities {
        with {
            $0.search = { words, _ async throws(DataSourceError) in
                let found = try await DataSourceError.remote { try await operation(words) }
                return FoundEntities(elements: found, dropped: [])
            }
        }
    }

    private func with(_ change: (inout RemoteEntities) -> Void) -> RemoteEntities {
        var changed = self
        change(&changed)
        return changed
    }
}

/// The result of a search, with the elements that could not be decoded.
struct FoundEntities<DTO: Sendable>: Sendable {
    let elements: [DTO]
    let dropped: [DroppedElement]
}

extension HTTPCallOptions {
    fileprivate static func owned(by owner: String?) -> HTTPCallOptions {
        var options = HTTPCallOptions()
        if let owner { options.owner = owner }
        return options
    }

    /// The options of a fetch, without the client's coalescing: a shared exchange may have begun before an
    /// invalidation.
    fileprivate static func fetching(for owner: String?) -> HTTPCallOptions {
        var options = owned(by: owner)
        options.allowsCoalescing = false
        return options
    }
}

extension RemoteDataSource? {
    fileprivate var required: RemoteDataSource {
        get throws(DataSourceError) {
            guard let self else { throw .notOffered("an endpoint, which needs a RemoteDataSource") }
            return self
        }
    }
}

extension DataSourceError {
    fileprivate static func notOffered(_ operation: String) -> DataSourceError {
        DataSourceError(
            .unsupported,
            "The remote source does not support this operation: \(operation).",
            source: .remote
        )
    }
}
