internal import KeelRepositories
internal import KeelStorage
internal import RestaurantsDomain

extension DocumentCollection where Element: DomainConvertible {
    /// Follows the collection, in the words of the domain.
    func updates() -> LiveUpdates<Element.Domain> {
        LiveUpdates {
            var snapshots = listen().makeAsyncIterator()
            var isFirst = true
            return { () async throws(DomainError) in
                try await DomainError.mapping { () async throws(DataSourceError) in
                    let snapshot = try await DataSourceError.local {
                        () async throws(StorageError) in try await snapshots.next()
                    }
                    guard let snapshot else { return nil }
                    defer { isFirst = false }
                    let changes =
                        isFirst
                        ? nil
                        : try snapshot.changes.map { change throws(DataSourceError) in
                            try self.change(change)
                        }
                    return LiveUpdate(count: snapshot.items.count, changes: changes)
                }
            }
        }
    }

    private func change(
        _ change: DocumentChange
    ) throws(DataSourceError) -> LiveUpdate<Element.Domain>.Change {
        let element: Element
        do throws(StorageError) {
            element = try decoder.decode(Element.self, from: change.document)
        } catch {
            throw DataSourceError(error)
        }
        let item = try DataSourceError.mapping { () throws(MappingError) in
            try element.toDomain()
        }
        return switch change.kind {
        case .added: .added(item)
        case .modified: .changed(item)
        case .removed: .removed(item)
        }
    }
}
