internal import KeelCache
internal import KeelHTTP
internal import KeelStorage
internal import KeelSync

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

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
    let order = FetchOrder()
    /// ``local``, if its store reports changes.
    private let followed: (any FollowedSource<DTO>)?

    init(
        names: EntityNames,
        remote: RemoteEntities<DTO>,
        local: Local,
        id: @escaping @Sendable (DTO) -> String,
        offline: OfflineWrites<DTO>?,
        onDropped: (@Sendable ([DroppedElement]) -> Void)?
    ) {
        self.names = names
        self.remote = remote
        self.local = local
        self.id = id
        self.offline = offline
        self.onDropped = onDropped
        followed = local as? any FollowedSource<DTO>
    }

    var home: ResourceHome {
        ResourceHome(name: names.name) { () async throws(DataSourceError) in
            // A cache without a tier cannot fail.
            try? await answers.removeAll()
            try await local.removeAll()
        }
    }

    // MARK: One entity

    func one(_ id: String, _ owner: String?) -> Resource<Domain> {
        let key = names.outboxKey(id, owner)
        let changes: Set = [names.key(id), names.lists]
        let dto = Resource<DTO>(names.key(id), tags: [names.name]) {
            () async throws(DataSourceError) in
            let request = order.begin()
            let isEarly = try await isUnsent(key)
            let dto = try await fetched(id, key, owner, request)
            return .init(value: dto, changes: changes, isEarly: isEarly) {
                () async throws(DataSourceError) in
                if try await isChangedHere(id, key) { return }
                if order.isOvertaken(request, key) { return }
                try await local.save(dto)
                order.note(key, of: request)
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

    private func fetched(
        _ id: String,
        _ key: String,
        _ owner: String?,
        _ request: FetchOrder.Request
    ) async throws(DataSourceError) -> DTO {
        // An unsent change exists only on this device.
        if try await isChangedHere(id, key) { return try await kept(id) }
        let dto: DTO
        do throws(DataSourceError) {
            dto = try await remote.find(id, owner)
        } catch {
            guard error.code == .notFound else { throw error }
            if let newer = try await newer(id, key, request) { return newer }
            order.note(key, of: request, isMissing: true)
            throw error
        }
        if try await isChangedHere(id, key) { return try await kept(id) }
        return try await newer(id, key, request) ?? dto
    }

    /// The kept entity if it comes from a later request.
    private func newer(
        _ id: String,
        _ key: String,
        _ request: FetchOrder.Request
    ) async throws(DataSourceError) -> DTO? {
        order.isOvertaken(request, key) ? try await local.find(id) : nil
    }

    /// Whether an entity has an unsent change that shows on this device: its copy, or the lack of one.
    private func isChangedHere(_ id: String, _ key: String) async throws(DataSourceError) -> Bool {
        guard try await isUnsent(key) else { return false }
        if try await local.find(id) != nil { return true }
        return try await unsent()[key] == true
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
            let request = order.begin()
            let before = try await unsent()
            let all = try await remote.all(owner)
            let protected = try await unreplaced(by: request, before)
            let dtos =
                order.isOvertaken(request)
                ? try await local.findAll()
                : try await merged(all, protecting: protected, owner)
            let isEarly = names.hasChange(in: before.keys, of: owner)
            return .init(value: dtos, changes: [names.name], isEarly: isEarly) {
                () async throws(DataSourceError) in
                if order.isOvertaken(request) { return }
                // Before the outbox is read: another process may add an entity to both in between.
                let kept = try await local.findAll().map(id)
                let protected = try await unreplaced(by: request)
                let arrived = Set(dtos.map(id))
                let gone = kept.filter {
                    !arrived.contains($0) && protected[names.outboxKey($0, owner)] == nil
                }
                try await local.save(storable(dtos, beside: Set(kept), protected, owner))
                if !gone.isEmpty { try await local.delete(gone) }
                order.noteList(of: request)
            }
        } read: { question async throws(DataSourceError) in
            try await read(question)
        } remove: { () async throws(DataSourceError) in
        }.kept(in: followed?.scope(of: nil)).outlastingInvalidation()
    }

    /// The entities that a response does not replace, and whether they are deleted: those with an unsent change now or
    /// before the request, and those kept after later requests.
    private func unreplaced(
        by request: FetchOrder.Request,
        _ before: [String: Bool] = [:],
        among keys: [String] = []
    ) async throws(DataSourceError) -> [String: Bool] {
        let changed = before.merging(try await unsent()) { $0 || $1 }
        let later = order.keptLater(than: request, among: keys)
        return changed.merging(later) { changed, _ in changed }
    }

    private func merged(
        _ dtos: [DTO],
        protecting keys: [String: Bool],
        _ owner: String?,
        isAll: Bool = true
    ) async throws(DataSourceError) -> [DTO] {
        guard !keys.isEmpty else { return dtos }
        let kept = try await local.findAll().filter {
            keys[names.outboxKey(id($0), owner)] != nil
        }
        var byID = Dictionary(kept.map { (id($0), $0) }) { $1 }
        let keptIDs = Set(byID.keys)
        // In the service's order; entities unknown to the service are appended.
        var merged: [DTO] = []
        for dto in dtos {
            if keptIDs.contains(id(dto)) {
                if let mine = byID.removeValue(forKey: id(dto)) { merged.append(mine) }
            } else if keys[names.outboxKey(id(dto), owner)] != true {
                merged.append(dto)
            }
        }
        return isAll ? merged + kept.filter { byID[id($0)] != nil } : merged
    }

    /// Returns the entities of a response to store: not those that are protected and show on this device.
    private func storable(
        _ dtos: [DTO],
        beside kept: Set<String>,
        _ protected: [String: Bool],
        _ owner: String?
    ) -> [DTO] {
        dtos.filter { dto in
            guard let isDeleted = protected[names.outboxKey(id(dto), owner)] else { return true }
            return !isDeleted && !kept.contains(id(dto))
        }
    }

    // MARK: Queries and searches

    func search(_ words: String, _ owner: String?) -> Resource<[Domain]> {
        let key = names.key(searching: words)
        let place = owner.map { "\($0) \(key)" } ?? key
        let dtos = Resource<[DTO]>(key, tags: [names.name, names.lists]) {
            () async throws(DataSourceError) in
            let request = order.begin()
            let before = try await unsent()
            let found = try await remote.search(words, owner)
            if !found.dropped.isEmpty { onDropped?(found.dropped) }
            let keys = found.elements.map { names.outboxKey(id($0), owner) }
            let protected = try await unreplaced(by: request, before, among: keys)
            let dtos = try await merged(
                found.elements,
                protecting: protected,
                owner,
                isAll: false
            )
            let changes = Set(dtos.map { names.key(id($0)) } + [names.lists])
            let isEarly = names.hasChange(in: before.keys, of: owner)
            return .init(value: dtos, changes: changes, isEarly: isEarly) {
                () async throws(DataSourceError) in
                answers.setSynchronously(dtos.map(id), for: place)
                if order.isOvertaken(request) { return }
                let protected = try await unreplaced(by: request)
                let kept = try await protected.isEmpty ? [] : local.findAll().map(id)
                let stored = storable(dtos, beside: Set(kept), protected, owner)
                try await local.save(stored)
                for dto in stored { order.note(names.outboxKey(id(dto), owner), of: request) }
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

    /// The keys of the entities whose changes the service does not have yet, and whether the last change is a deletion.
    private func unsent() async throws(DataSourceError) -> [String: Bool] {
        guard let offline else { return [:] }
        do throws(OutboxError) {
            return try await offline.outbox.protectedKeys { $0.isDeletion }
        } catch {
            throw DataSourceError(error)
        }
    }
}
