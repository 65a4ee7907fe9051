internal import KeelCache
internal import KeelHTTP
internal import KeelStorage
internal import KeelSync

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// The sources of a repository, from which its operations are made.
struct EntitySources<Local: LocalDataSource>: Sendable
where Local.Element: DomainConvertible {
    typealias DTO = Local.Element
    typealias Domain = DTO.Domain

    let names: EntityNames
    let remote: RemoteEntities<DTO>
    let local: Local
    let id: @Sendable (DTO) -> String
    let offline: OfflineWrites<DTO>?
    let onDropped: (@Sendable ([DroppedElement]) -> Void)?
    /// The ids of recent search results.
    let answers = Cache<String, [String]>(CacheConfiguration(limits: .count(256)))

    var home: ResourceHome {
        ResourceHome(name: names.name) { () async throws(DataSourceError) in
            try await local.removeAll()
        }
    }

    /// The source, if its store reports changes.
    private var followed: (any FollowedSource<DTO>)? { local as? any FollowedSource<DTO> }

    // MARK: One entity

    func one(_ id: String, _ owner: String?) -> Resource<Domain> {
        let key = names.outboxKey(id, owner)
        let changes: Set = [names.key(id), names.lists]
        let dto = Resource<DTO>(names.key(id), tags: [names.name]) {
            () async throws(DataSourceError) in
            let dto = try await fetched(id, key)
            return .init(value: dto, changes: changes) { () async throws(DataSourceError) in
                if try await isUnsent(key) { return }
                try await local.save(dto)
            }
        } read: { question async throws(DataSourceError) in
            guard question.wantsPosition, let followed else {
                return KeptCopy(try await local.find(id))
            }
            let copy = try await followed.copies(of: [id])
            return KeptCopy(copy.value?.first ?? nil, at: copy.position, bytes: copy.bytes)
        } remove: { () async throws(DataSourceError) in
            if try await isUnsent(key) { return }
            try await local.delete(id)
        }
        return dto.kept(in: followed?.scope(of: id)).forgetting(changes)
            .mapAlways { dto throws(MappingError) in try dto.toDomain() }
    }

    private func fetched(_ id: String, _ key: String) async throws(DataSourceError) -> DTO {
        // An unsent change exists only on this device.
        if try await isUnsent(key) { return try await kept(id) }
        let dto = try await remote.find(id)
        if try await isUnsent(key) { return try await kept(id) }
        return dto
    }

    private func kept(_ id: String) async throws(DataSourceError) -> DTO {
        guard let kept = try await local.find(id) else { throw DataSourceError(.notFound) }
        return kept
    }

    // MARK: All entities

    func all(_ owner: String?) -> Resource<[Domain]> {
        list(owner) { question async throws(DataSourceError) in
            // An empty list counts once the service has returned it.
            let copy = try await copyOfAll(question)
            let isKept = question.wasKept || copy.value?.isEmpty == false
            return isKept ? copy : KeptCopy(nil, at: copy.position)
        }.mapAlways { dtos throws(MappingError) in try mapped(dtos) }
    }

    func presence(_ owner: String?) -> Resource<EntitiesAreHere> {
        list(owner) { question async throws(DataSourceError) in
            guard question.wasKept else {
                let copy = try await copyOfAll(question)
                return KeptCopy(copy.value?.isEmpty == false ? [] : nil, at: copy.position)
            }
            let scope = question.wantsPosition ? followed?.scope(of: nil) : nil
            return KeptCopy([], at: try await scope?.position(), bytes: 0)
        }.mapAlways { dtos throws(MappingError) in
            // Fails like a full read if an entity cannot be mapped.
            _ = try mapped(dtos)
            return EntitiesAreHere()
        }
    }

    private func copyOfAll(
        _ question: KeptQuestion
    ) async throws(DataSourceError) -> KeptCopy<[DTO]> {
        guard question.wantsPosition, let followed else {
            return KeptCopy(try await local.findAll())
        }
        return try await followed.copyOfAll()
    }

    private func list(
        _ owner: String?,
        read: @escaping @Sendable (KeptQuestion) async throws(DataSourceError) -> KeptCopy<[DTO]>
    ) -> Resource<[DTO]> {
        Resource<[DTO]>(names.lists, tags: [names.name]) { () async throws(DataSourceError) in
            let before = try await unsent()
            let all = try await remote.all()
            let protected = before.union(try await unsent())
            let dtos = try await merged(all, protecting: protected, owner)
            return .init(value: dtos, changes: [names.name]) { () async throws(DataSourceError) in
                let unsent = try await unsent()
                let arrived = Set(dtos.map(id))
                let gone = try await local.findAll().map(id)
                    .filter {
                        !arrived.contains($0) && !unsent.contains(names.outboxKey($0, owner))
                    }
                try await local.save(
                    dtos.filter { !unsent.contains(names.outboxKey(id($0), owner)) }
                )
                if !gone.isEmpty { try await local.delete(gone) }
            }
        } read: { question async throws(DataSourceError) in
            try await read(question)
        } remove: { () async throws(DataSourceError) in
        }.kept(in: followed?.scope(of: nil)).outlastingInvalidation()
    }

    /// Merges the service's response with local entities that have unsent changes.
    private func merged(
        _ dtos: [DTO],
        protecting keys: Set<String>,
        _ owner: String?,
        isAll: Bool = true
    ) async throws(DataSourceError) -> [DTO] {
        guard !keys.isEmpty else { return dtos }
        let kept = try await local.findAll().filter {
            keys.contains(names.outboxKey(id($0), owner))
        }
        var byID = Dictionary(kept.map { (id($0), $0) }) { $1 }
        // In the service's order; entities unknown to the service are appended.
        var merged: [DTO] = []
        for dto in dtos {
            guard keys.contains(names.outboxKey(id(dto), owner)) else {
                merged.append(dto)
                continue
            }
            if let mine = byID.removeValue(forKey: id(dto)) { merged.append(mine) }
        }
        return isAll ? merged + kept.filter { byID[id($0)] != nil } : merged
    }

    // MARK: Queries and searches

    func search(_ words: String, _ owner: String?) -> Resource<[Domain]> {
        let key = names.key(searching: words)
        let place = owner.map { "\($0) \(key)" } ?? key
        let dtos = Resource<[DTO]>(key, tags: [names.name, names.lists]) {
            () async throws(DataSourceError) in
            let before = try await unsent()
            let found = try await remote.search(words)
            if !found.dropped.isEmpty { onDropped?(found.dropped) }
            let protected = before.union(try await unsent())
            let dtos = try await merged(
                found.elements,
                protecting: protected,
                owner,
                isAll: false
            )
            let changes = Set(dtos.map { names.key(id($0)) } + [names.lists])
            return .init(value: dtos, changes: changes) { () async throws(DataSourceError) in
                let unsent = try await unsent()
                try await local.save(
                    dtos.filter { !unsent.contains(names.outboxKey(id($0), owner)) }
                )
                answers.setSynchronously(dtos.map(id), for: place)
            }
        } read: { question async throws(DataSourceError) in
            guard let ids = answers.peek(place) else { return KeptCopy(nil) }
            let copy = try await copies(of: ids, question)
            // Deleted entities are omitted.
            let kept = copy.value?.compactMap(\.self) ?? []
            return KeptCopy(kept, at: copy.position, bytes: copy.bytes)
        } remove: { () async throws(DataSourceError) in
        }
        return dtos.kept(in: followed?.scope(of: nil)).transient()
            .mapAlways { dtos throws(MappingError) in try mapped(dtos) }
    }

    private func copies(
        of ids: [String],
        _ question: KeptQuestion
    ) async throws(DataSourceError) -> KeptCopy<[DTO?]> {
        if question.wantsPosition, let followed { return try await followed.copies(of: ids) }
        var found: [DTO?] = []
        for id in ids { found.append(try await local.find(id)) }
        return KeptCopy(found)
    }

    func find(_ predicate: any Sendable) async throws(DataSourceError) -> [Domain] {
        guard let predicate = predicate as? Predicate<DTO> else {
            throw DataSourceError(
                .unsupported,
                "A condition of \(names.name) must be a #Predicate of \(DTO.self)."
            )
        }
        let dtos = try await local.find(where: predicate)
        return try DataSourceError.mapping { try mapped(dtos) }
    }

    private func mapped(_ dtos: [DTO]) throws(MappingError) -> [Domain] {
        guard let onDropped else { return try dtos.toDomain() }
        let list = dtos.toDomainDroppingFailures()
        if !list.dropped.isEmpty { onDropped(list.dropped) }
        return list.elements
    }

    /// Whether the service does not have all changes of an entity yet.
    func isUnsent(_ key: String) async throws(DataSourceError) -> Bool {
        guard let offline else { return false }
        do throws(OutboxError) {
            return try await offline.outbox.protects(key)
        } catch {
            throw DataSourceError(error)
        }
    }

    /// The keys of the entities whose changes the service does not have yet.
    private func unsent() async throws(DataSourceError) -> Set<String> {
        guard let offline else { return [] }
        do throws(OutboxError) {
            return try await offline.outbox.protectedKeys()
        } catch {
            throw DataSourceError(error)
        }
    }
}
