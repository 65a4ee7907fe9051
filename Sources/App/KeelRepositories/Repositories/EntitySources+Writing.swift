internal import KeelSync

extension EntitySources {
    func write(
        for change: OfflineWrites<DTO>.Change,
        _ owner: String?
    ) throws(DataSourceError) -> (OutboxWrite, OfflineWrites<DTO>) {
        guard let offline else {
            throw DataSourceError(.unsupported, "The repository was created without OfflineWrites.")
        }
        let request = try offline.request(change)
        switch change {
        case .save(let dto):
            return (request.write(key: names.outboxKey(id(dto), owner), owner: owner), offline)
        case .delete(let id):
            var write = request.write(key: names.outboxKey(id, owner), owner: owner)
            write.attributes[OutboxWrite.deletionMark] = "true"
            return (write, offline)
        }
    }

    /// Throws if an earlier change of the entity waits in the outbox: sent later, it would replace
    /// the one that the service is about to accept.
    func checkOrder(of id: String, _ owner: String?) async throws(DataSourceError) {
        guard try await isUnsent(names.outboxKey(id, owner)) else { return }
        throw DataSourceError(
            .conflict,
            """
            An earlier change of \(names.key(id)) waits in the outbox, and would replace this one \
            when it is sent: save or delete offline, too, or wait until the outbox has sent it.
            """
        )
    }

    /// For stores outside of the batch: the outbox first, so that no change remains unsent.
    func commit(
        _ change: OfflineWrites<DTO>.Change,
        _ owner: String?
    ) async throws(DataSourceError) -> OutboxReceipt {
        let (write, offline) = try write(for: change, owner)
        let receipt: OutboxReceipt
        do throws(OutboxError) {
            receipt = try await offline.outbox.enqueue(write)
        } catch {
            throw DataSourceError(error)
        }
        // In a canceled task, a source may refuse, although the change is going to be sent.
        let applying = Task { () async -> DataSourceError? in
            do throws(DataSourceError) {
                switch change {
                case .save(let dto): try await local.save(dto)
                case .delete(let id): try await local.delete(id)
                }
                return nil
            } catch {
                return error
            }
        }
        if let failure = await applying.value { throw failure }
        return receipt
    }
}

extension EntitySources where Local.Element: DomainRepresentable {
    typealias CommitChange =
        @Sendable (OfflineWrites<DTO>.Change, String?) async throws(DataSourceError) ->
        OutboxReceipt

    func operations(_ commit: @escaping CommitChange) -> EntityOperations<Domain> {
        EntityOperations(
            home: home,
            one: { one($0, $1) },
            all: { all($0) },
            search: { search($0, $1) },
            presence: { presence($0) },
            find: { predicate async throws(DataSourceError) in try await find(predicate) },
            id: { id(DTO(domain: $0)) },
            send: { entity, owner async throws(DataSourceError) in
                let dto = DTO(domain: entity)
                try await checkOrder(of: id(dto), owner)
                let saved = try await remote.save(dto, owner) ?? dto
                let domain = try DataSourceError.mapping {
                    try saved.toDomain()
                }
                let keep: EntityOperations<Domain>.Keep = { () async throws(DataSourceError) in
                    // A change made offline meanwhile is newer.
                    if try await isUnsent(names.outboxKey(id(saved), owner)) { return }
                    try await local.save(saved)
                }
                return (domain, keep)
            },
            sendDeletion: { id, owner async throws(DataSourceError) in
                try await checkOrder(of: id, owner)
                try await remote.delete(id, owner)
            },
            deleteHere: { id, owner async throws(DataSourceError) in
                if try await isUnsent(names.outboxKey(id, owner)) { return }
                try await local.delete(id)
            },
            enqueue: { entity, owner async throws(DataSourceError) in
                try await commit(.save(DTO(domain: entity)), owner)
            },
            enqueueDeletion: { id, owner async throws(DataSourceError) in
                try await commit(.delete(id: id), owner)
            }
        )
    }
}

extension OutboxWrite {
    fileprivate static let deletionMark = "deletes"

    /// Whether the write deletes its entity.
    var isDeletion: Bool {
        // Earlier versions did not mark deletions.
        attributes[Self.deletionMark] != nil || attributes["method"] == "DELETE"
    }
}
