#if SQLite
import Foundation
import KeelStorage
import KeelStorageAdapting
import KeelStorageSQLite
import KeelTestSupport

/// A folder that is removed with its last reference.
final class TemporaryFolder: Sendable {
    let url: URL

    init() throws { url = try URL.makeTemporaryFolder() }

    deinit { try? FileManager.default.removeItem(at: url) }

    func file(_ name: String = "Store.sqlite") -> URL { url.appending(path: name) }

    func adapter(
        _ name: String = "Store.sqlite",
        _ change: (inout SQLiteStorageAdapter.Configuration) -> Void = { _ in }
    ) throws -> SQLiteStorageAdapter {
        var configuration = SQLiteStorageAdapter.Configuration()
        change(&configuration)
        return try SQLiteStorageAdapter(at: .file(file(name)), configuration: configuration)
    }
}

extension StorageAdapter {
    @discardableResult
    func set(_ path: DocumentPath, _ fields: DocumentFields) async throws -> CommitReceipt {
        try await apply(WriteBatch([DocumentWrite(path, .set(DocumentBody(fields)))]))
    }

    /// Sets a document for each number, in one batch.
    func setEach(
        _ numbers: Range<Int>,
        _ document: (Int) -> (path: DocumentPath, fields: DocumentFields)
    ) async throws {
        let writes = numbers.map { number in
            let (path, fields) = document(number)
            return DocumentWrite(path, .set(DocumentBody(fields)))
        }
        try await apply(WriteBatch(writes))
    }

    @discardableResult
    func delete(_ path: DocumentPath) async throws -> CommitReceipt {
        try await apply(WriteBatch([DocumentWrite(path, .delete)]))
    }

    @discardableResult
    func apply(_ batch: WriteBatch) async throws -> CommitReceipt {
        let results = try await commit([batch])
        return try results[0].get()
    }

    func document(_ path: DocumentPath) async throws -> Document? {
        guard case .documents(let found) = try await read(ReadRequest(.documents([path]))).payload
        else { return nil }
        return found[0]
    }

    func found(_ query: DocumentQuery) async throws -> (documents: [Document], plan: QueryPlan?) {
        let result = try await read(ReadRequest(.query(try QueryValidation.checked(query))))
        guard case .found(let documents) = result.payload else { return ([], nil) }
        return (documents, result.plan)
    }

    func ids(_ query: DocumentQuery) async throws -> [String] {
        try await found(query).documents.map(\.id)
    }

    /// Returns the names of the collections of a document, or of the root.
    func names(under parent: DocumentPath?) async throws -> [String] {
        let result = try await read(ReadRequest(.collections(under: parent)))
        guard case .names(let names) = result.payload else { return [] }
        return names
    }

    func values(_ query: DocumentQuery, _ aggregations: [Aggregation]) async throws
        -> [DocumentValue]
    {
        let checked = try QueryValidation.checked(query)
        let result = try await read(ReadRequest(.aggregate(checked, aggregations)))
        guard case .values(let values) = result.payload else { return [] }
        return values
    }

    /// Returns all changes after a cursor, page by page, to the end of the log.
    func allChanges(
        after cursor: ChangeCursor? = nil,
        scope: ChangeScope = .everything,
        limit: Int = 500
    ) async throws -> (changes: [ChangePage.Change], next: ChangeCursor) {
        var changes: [ChangePage.Change] = []
        var request = ChangeRequest(after: cursor, scope: scope, limit: limit)
        while true {
            let page = try await self.changes(request)
            changes += page.changes
            if page.isCaughtUp { return (changes, page.next) }
            request.after = page.next
        }
    }
}

func storageError(of body: () async throws -> Void) async -> StorageError? {
    do {
        try await body()
        return nil
    } catch { return error as? StorageError }
}
#endif
