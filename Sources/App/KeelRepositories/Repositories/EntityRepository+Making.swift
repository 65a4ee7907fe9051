public import KeelHTTP
internal import KeelStorage
internal import KeelSync

extension EntityRepository {
    /// Creates a repository over any local source.
    ///
    /// Offline changes are added to the outbox first and then applied locally. After a crash in between, the service
    /// still receives the change, and the device loads it later.
    ///
    /// - Parameters:
    ///   - name: The name of the kind of entities, unique within the loader.
    ///   - remote: The operations of the service.
    ///   - local: The source on this device.
    ///   - loader: The loader.
    ///   - offline: The outbox for offline changes, if supported.
    ///   - onDropped: Called with elements of a list that cannot be mapped, which are then omitted;
    ///     with nil, the whole list fails.
    ///   - id: Returns the id of a DTO.
    public init<Local: LocalDataSource>(
        _ name: String,
        remote: RemoteEntities<Local.Element>,
        local: Local,
        loader: ResourceLoader,
        offline: OfflineWrites<Local.Element>? = nil,
        onDropped: (@Sendable ([DroppedElement]) -> Void)? = nil,
        id: @escaping @Sendable (Local.Element) -> String
    )
    where
        Local.Element: DomainConvertible & DomainRepresentable,
        Local.Element.Domain == Entity
    {
        let sources = EntitySources(
            names: EntityNames(name: name),
            remote: remote,
            local: local,
            id: id,
            offline: offline,
            onDropped: onDropped
        )
        self.init(
            name,
            loader,
            sources.operations { change, owner async throws(DataSourceError) in
                try await sources.commit(change, owner)
            }
        )
    }

    /// Creates a repository over a collection.
    ///
    /// An offline change and its request are committed in one batch, so the outbox must be in the same store as the
    /// collection.
    public init<DTO: DomainMappable & Codable & Sendable>(
        _ name: String,
        remote: RemoteEntities<DTO>,
        local: CollectionDataSource<DTO>,
        loader: ResourceLoader,
        offline: OfflineWrites<DTO>? = nil,
        onDropped: (@Sendable ([DroppedElement]) -> Void)? = nil,
        id: @escaping @Sendable (DTO) -> String
    ) where DTO.Domain == Entity {
        let sources = EntitySources(
            names: EntityNames(name: name),
            remote: remote,
            local: local,
            id: id,
            offline: offline,
            onDropped: onDropped
        )
        self.init(
            name,
            loader,
            sources.operations { change, owner async throws(DataSourceError) in
                let (write, offline) = try sources.write(for: change, owner)
                do {
                    return try await offline.outbox.enqueue(write) { batch in
                        switch change {
                        case .save(let dto): batch.add(try local.write(saving: dto))
                        case .delete(let id): batch.add(local.write(deleting: id))
                        }
                    }
                } catch let error as StorageError {
                    throw DataSourceError(error)
                } catch let error as OutboxError {
                    throw DataSourceError(error)
                } catch {
                    throw DataSourceError(.unknown, cause: error)
                }
            }
        )
    }
}
