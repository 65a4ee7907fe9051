internal import KeelCore
internal import KeelStorage
internal import KeelStorageAdapting

/// An adapter that reports each call to an observer.
///
/// Ids in collection paths are replaced with `*`, and documents are not reported.
struct ReportingStorageAdapter<Upstream: StorageAdapter>: StorageAdapter {
    private let upstream: Upstream
    private let observer: KeelObserver
    private let timeline = Timeline(ContinuousClock())

    init(_ upstream: Upstream, _ observer: KeelObserver) {
        self.upstream = upstream
        self.observer = observer
    }

    var capabilities: StorageCapabilities { upstream.capabilities }

    var sharedRecords: (any SharedRecords)? { upstream.sharedRecords }

    func prepare(_ schema: StorageSchema) async throws(StorageError) {
        try await report("prepare") { () async throws(StorageError) in
            try await upstream.prepare(schema)
        } details: { _ in
            [:]
        }
    }

    func read(_ request: ReadRequest) async throws(StorageError) -> ReadResult {
        let (operation, collections) = Self.names(of: request)
        return try await report(operation) { () async throws(StorageError) in
            try await upstream.read(request)
        } details: { result in
            var details = Self.details(of: collections)
            switch result.payload {
            case .documents(let documents):
                details["documents"] = "\(documents.count { $0 != nil })"
            case .found(let documents): details["documents"] = "\(documents.count)"
            case .values, .names: break
            }
            return details
        }
    }

    func commit(
        _ batches: [WriteBatch]
    ) async throws(StorageError) -> [Result<CommitReceipt, StorageError>] {
        let writes = batches.flatMap(\.writes)
        let start = timeline.now
        let details = Self.details(of: writes.map(\.path.collection))
            .merging(["writes": "\(writes.count)"]) { $1 }
        func report(_ failure: StorageError?) {
            observer(
                KeelObservation(
                    .storage,
                    "commit",
                    duration: timeline.now - start,
                    details: details,
                    failure: failure?.code.name
                )
            )
        }
        do throws(StorageError) {
            let results = try await upstream.commit(batches)
            // Batches fail independently; the line has the first failure.
            let failures = results.compactMap { result -> StorageError? in
                guard case .failure(let error) = result else { return nil }
                return error
            }
            report(failures.first)
            return results
        } catch {
            report(error)
            throw error
        }
    }

    func changes(_ request: ChangeRequest) async throws(StorageError) -> ChangePage {
        let start = timeline.now
        do throws(StorageError) {
            let page = try await upstream.changes(request)
            // The wait ended without a change, so there is nothing to report.
            guard !page.changes.isEmpty else { return page }
            observer(
                KeelObservation(
                    .storage,
                    "changes",
                    duration: timeline.now - start,
                    details: ["changes": "\(page.changes.count)"]
                )
            )
            return page
        } catch {
            observer(KeelObservation(.storage, "changes", failure: error.code.name))
            throw error
        }
    }

    private func report<Value>(
        _ operation: String,
        _ call: () async throws(StorageError) -> Value,
        details: (Value) -> [String: String]
    ) async throws(StorageError) -> Value {
        let start = timeline.now
        do throws(StorageError) {
            let value = try await call()
            observer(
                KeelObservation(
                    .storage,
                    operation,
                    duration: timeline.now - start,
                    details: details(value)
                )
            )
            return value
        } catch {
            let duration = timeline.now - start
            observer(
                KeelObservation(
                    .storage,
                    operation,
                    duration: duration,
                    failure: error.code.name
                )
            )
            throw error
        }
    }

    // MARK: Names

    private static func names(of request: ReadRequest) -> (String, [CollectionPath]) {
        switch request.operation {
        case .documents(let paths): ("get", paths.map(\.collection))
        case .query(let query): ("query", collections(of: query))
        case .aggregate(let query, _): ("aggregate", collections(of: query))
        case .collections: ("collections", [])
        }
    }

    private static func collections(of query: DocumentQuery) -> [CollectionPath] {
        guard case .collection(let path) = query.scope else { return [] }
        return [path]
    }

    private static func details(of collections: [CollectionPath]) -> [String: String] {
        let names = Set(collections.map(\.anonymousName))
        guard names.count == 1, let name = names.first else { return [:] }
        return ["collection": name]
    }
}
