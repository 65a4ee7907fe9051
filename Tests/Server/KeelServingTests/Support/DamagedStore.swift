import KeelStorage
import KeelStorageAdapting
import KeelTestKit

/// A store with unreadable documents.
struct DamagedStore: ForwardingStorageAdapter {
    let upstream: any StorageAdapter
    let damaged: Set<DocumentPath>
    /// Whether a query continues until it has the full number of documents, as in SQLite; a migrating adapter stops
    /// early.
    let fillsUp: Bool

    private func failure(_ path: DocumentPath) -> UnreadableDocument {
        let message = "the body of “\(path)” cannot be unsealed"
        return UnreadableDocument(path, StorageError(.corrupted, message, resource: path.string))
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        var wider = request
        var limit: Int?
        if case .query(var query) = request.operation, fillsUp, case .first(let count) = query.limit
        {
            limit = count
            query.limit = .first(count + damaged.count)
            wider.operation = .query(query)
        }
        var result = try await upstream.read(wider)
        switch result.payload {
        case .documents(let documents):
            result.payload = .documents(
                documents.map { document in
                    guard let document, damaged.contains(document.path) else { return document }
                    result.unreadable.append(failure(document.path))
                    return nil
                }
            )
        case .found(let documents):
            var found: [Document] = []
            for document in documents where found.count < limit ?? .max {
                if damaged.contains(document.path) {
                    result.unreadable.append(failure(document.path))
                } else {
                    found.append(document)
                }
            }
            result.payload = .found(found)
        case .values, .names: break
        }
        if let first = result.unreadable.first, !request.reportsUnreadable { throw first.error }
        return result
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        var page = try await upstream.changes(request)
        page.changes = page.changes.map {
            damaged.contains($0.path) ? .unreadable(failure($0.path)) : $0
        }
        return page
    }
}
