public import KeelHTTP
internal import KeelStorage
internal import KeelSync

extension EntityRepository {
    /// Creates a repository whose things are kept by any source.
    ///
    /// Changes made offline are put into the outbox first and then made here: a process that ends
    /// in between leaves a change that the service learns of, and this device with its next load.
    ///
    /// - Parameters:
    ///   - name: The name of the kind.
    ///   - remote: The operations that the service offers.
    ///   - local: The source that keeps entities on this device.
    ///   - loader: The loader, which loads, keeps and tells who watches.
    ///   - offline: How changes wait for the service, if they may.
    ///   - onDropped: Told of elements of a list that cannot be mapped, which are then left out;
    ///     nil makes them errors of the whole list.
    ///   - id: The id of a DTO.
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
            sources.operations { change, key async throws(DataSourceError) in
                try await sources.commit(change, key)
            }
        )
    }

    /// Creates a repository whose things are kept in a collection.
    ///
    /// A change made offline and its request are committed in one batch if the outbox is in the
    /// store of the collection, which is what this expects.
    ///
    /// - Parameters:
    ///   - name: The name of the kind.
    ///   - remote: The operations that the service offers.
    ///   - local: The collection that keeps things on this device.
    ///   - loader: The loader, which loads, keeps and tells who watches.
    ///   - offline: How changes wait for the service, if they may; its outbox is in the same store.
    ///   - onDropped: Told of elements of a list that cannot be mapped, which are then left out;
    ///     nil makes them errors of the whole list.
    ///   - id: The id of a DTO.
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
            sources.operations { change, key async throws(DataSourceError) in
                let (write, offline) = try sources.write(for: change, key)
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
