internal import KeelHTTP
internal import KeelStorage
internal import KeelSync

/// What a repository does with its sources, whatever types these have.
struct EntityOperations<Entity: Sendable>: Sendable {
    typealias Keep = @Sendable () async throws(DataSourceError) -> Void

    let one: @Sendable (String) -> Resource<Entity>
    let all: Resource<[Entity]>
    let id: @Sendable (Entity) -> String
    /// Tells the service; what is returned keeps the answer here.
    let send: @Sendable (Entity) async throws(DataSourceError) -> (Entity, Keep)
    let sendDeletion: @Sendable (String) async throws(DataSourceError) -> Void
    let deleteHere: @Sendable (String) async throws(DataSourceError) -> Void
    let enqueue: @Sendable (Entity, String) async throws(DataSourceError) -> OutboxReceipt
    let enqueueDeletion: @Sendable (String, String) async throws(DataSourceError) -> OutboxReceipt
}

/// The sources of a repository: makes its operations.
struct EntitySources<Local: LocalDataSource>: Sendable
where Local.Element: DomainConvertible {
    typealias DTO = Local.Element
    typealias Domain = DTO.Domain

    let name: String
    let remote: RemoteEntities<DTO>
    let local: Local
    let id: @Sendable (DTO) -> String
    let offline: OfflineWrites<DTO>?
    let onDropped: (@Sendable ([DroppedElement]) -> Void)?

    // MARK: Reading

    func one(_ id: String) -> Resource<Domain> {
        let key = "\(name)/\(id)"
        let dto = Resource<DTO>(key, tags: [name]) { () async throws(DataSourceError) in
            // What the service does not know yet is only here.
            if try await unsent().contains(key) { return try await kept(id) }
            let dto = try await remote.find(id)
            if try await unsent().contains(key) { return try await kept(id) }
            return dto
        } read: { () async throws(DataSourceError) in
            try await local.find(id)
        } keep: { dto async throws(DataSourceError) in
            if try await unsent().contains(key) { return }
            try await local.save(dto)
        } forget: { () async throws(DataSourceError) in
            if try await unsent().contains(key) { return }
            try await local.delete(id)
        }
        return dto.map { dto throws(MappingError) in try dto.toDomain() }
    }

    var all: Resource<[Domain]> {
        let dtos = Resource<[DTO]>("\(name)/", tags: [name]) { () async throws(DataSourceError) in
            let before = try await unsent()
            let dtos = try await remote.all()
            return try await merged(dtos, protecting: before.union(try await unsent()))
        } readKept: { wasKept async throws(DataSourceError) in
            // An empty list is an answer once the service has given it.
            let kept = try await local.findAll()
            return kept.isEmpty && !wasKept ? nil : kept
        } keep: { dtos async throws(DataSourceError) in
            let unsent = try await unsent()
            let arrived = Set(dtos.map(id))
            let gone = try await local.findAll().map(id)
                .filter { !arrived.contains($0) && !unsent.contains("\(name)/\($0)") }
            try await local.save(dtos.filter { !unsent.contains("\(name)/\(id($0))") })
            if !gone.isEmpty { try await local.delete(gone) }
        }
        return dtos.map { dtos throws(MappingError) in
            guard let onDropped else { return try dtos.toDomain() }
            let list = dtos.toDomainDroppingFailures()
            if !list.dropped.isEmpty { onDropped(list.dropped) }
            return list.elements
        }
    }

    /// What the service sent, with this device's version of what it does not know yet.
    private func merged(
        _ dtos: [DTO],
        protecting keys: Set<String>
    ) async throws(DataSourceError) -> [DTO] {
        guard !keys.isEmpty else { return dtos }
        let kept = try await local.findAll().filter { keys.contains("\(name)/\(id($0))") }
        var byID = Dictionary(kept.map { (id($0), $0) }) { $1 }
        // In their places where the service has them, and those that it does not have at the end.
        var merged: [DTO] = []
        for dto in dtos {
            guard keys.contains("\(name)/\(id(dto))") else {
                merged.append(dto)
                continue
            }
            if let mine = byID.removeValue(forKey: id(dto)) { merged.append(mine) }
        }
        return merged + kept.filter { byID[id($0)] != nil }
    }

    private func kept(_ id: String) async throws(DataSourceError) -> DTO {
        guard let kept = try await local.find(id) else { throw DataSourceError(.notFound) }
        return kept
    }

    private func unsent() async throws(DataSourceError) -> Set<String> {
        guard let offline else { return [] }
        do throws(OutboxError) {
            return try await offline.outbox.protectedKeys()
        } catch {
            throw DataSourceError(error)
        }
    }

    // MARK: Writing

    func write(
        for change: OfflineWrites<DTO>.Change,
        _ key: String
    ) throws(DataSourceError) -> (OutboxWrite, OfflineWrites<DTO>) {
        guard let offline else {
            throw DataSourceError(.unsupported, "The repository was made without OfflineWrites.")
        }
        return (try offline.request(change).write(key: key), offline)
    }

    /// For stores that have no part in a batch: the write first, so that no change is left untold.
    func commit(
        _ change: OfflineWrites<DTO>.Change,
        _ key: String
    ) async throws(DataSourceError) -> OutboxReceipt {
        let (write, offline) = try write(for: change, key)
        let receipt: OutboxReceipt
        do throws(OutboxError) {
            receipt = try await offline.outbox.enqueue(write)
        } catch {
            throw DataSourceError(error)
        }
        switch change {
        case .save(let dto): try await local.save(dto)
        case .delete(let id): try await local.delete(id)
        }
        return receipt
    }
}
