internal import KeelStorage
internal import RestaurantsDomain

extension DataSourceError {
    /// Runs an operation of the store.
    static func local<Value>(
        _ operation: () async throws(StorageError) -> Value
    ) async throws(DataSourceError) -> Value {
        do throws(StorageError) {
            return try await operation()
        } catch {
            throw .local(error)
        }
    }

    /// Maps something that was read.
    static func mapping<Value>(
        _ operation: () throws(MappingFailure) -> Value
    ) throws(DataSourceError) -> Value {
        do throws(MappingFailure) {
            return try operation()
        } catch {
            throw .unmappable(error)
        }
    }
}

extension DocumentCollection {
    /// Follows the collection, in the words of the domain.
    func updates<Item: Sendable>(
        _ map: @escaping @Sendable (Element) throws(MappingFailure) -> Item
    ) -> LiveUpdates<Item> {
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
                            try self.change(change, map)
                        }
                    return LiveUpdate(count: snapshot.items.count, changes: changes)
                }
            }
        }
    }

    private func change<Item: Sendable>(
        _ change: DocumentChange,
        _ map: (Element) throws(MappingFailure) -> Item
    ) throws(DataSourceError) -> LiveUpdate<Item>.Change {
        let element: Element
        do throws(StorageError) {
            element = try decoder.decode(Element.self, from: change.document)
        } catch {
            throw .local(error)
        }
        let item = try DataSourceError.mapping { () throws(MappingFailure) in try map(element) }
        return switch change.kind {
        case .added: .added(item)
        case .modified: .changed(item)
        case .removed: .removed(item)
        }
    }
}
