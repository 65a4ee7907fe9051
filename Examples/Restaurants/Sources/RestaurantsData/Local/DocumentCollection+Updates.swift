internal import KeelRepositories
internal import KeelStorage
internal import RestaurantsDomain

extension DocumentCollection where Element: DomainConvertible {
    /// Follows the collection as updates of the domain.
    func updates() -> LiveUpdates<Element.Domain> {
        LiveUpdates {
            var snapshots = listen().makeAsyncIterator()
            var isFirst = true
            return { () async throws(DomainError) in
                try await DomainError.mapping {
                    guard let snapshot = try await snapshots.next() else { return nil }
                    defer { isFirst = false }
                    let changes = isFirst ? nil : try snapshot.changes.map(change)
                    return LiveUpdate(count: snapshot.items.count, changes: changes)
                }
            }
        }
    }

    private func change(_ change: DocumentChange) throws -> LiveUpdate<Element.Domain>.Change {
        let item = try decode(change.document).toDomain()
        return switch change.kind {
        case .added: .added(item)
        case .modified: .changed(item)
        case .removed: .removed(item)
        }
    }
}
