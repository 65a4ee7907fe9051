#if Observability

internal import KeelCore
internal import KeelStorageAdapting

/// The data about a call that logs, metrics and traces may contain before it is made.
struct ObservedCall: Sendable {
    let operation: String
    /// The collection, without ids; nil if there is none, or several.
    let collection: String?
    /// The number of documents that the call reads by path or writes, if known before the call.
    let size: Int?

    init(_ operation: String, collection: String? = nil, size: Int? = nil) {
        self.operation = operation
        self.collection = collection
        self.size = size
    }

    init(_ request: ReadRequest) {
        switch request.operation {
        case .documents(let paths):
            let collection = Self.common(paths.map(\.collection))
            self.init("get", collection: collection, size: paths.count)
        case .query(let query):
            self.init("query", collection: query.scope.anonymousName)
        case .aggregate(let query, _):
            self.init("aggregate", collection: query.scope.anonymousName)
        case .collections(let parent):
            self.init("collections", collection: parent?.collection.anonymousName)
        }
    }

    init(_ batches: [WriteBatch]) {
        let writes = batches.flatMap(\.writes)
        let collection = Self.common(writes.map(\.path.collection))
        self.init("commit", collection: collection, size: writes.count)
    }

    init(_ request: ChangeRequest) {
        let scope = request.scope
        guard scope.groups.isEmpty, scope.selections.isEmpty, !scope.isEverything else {
            self.init("changes")
            return
        }
        let collections = scope.collections.union(scope.documents.map(\.collection))
        self.init("changes", collection: Self.common(collections))
    }

    private static func common(_ collections: some Sequence<CollectionPath>) -> String? {
        let names = Set(collections.map(\.anonymousName))
        return names.count == 1 ? names.first : nil
    }
}

struct CallOutcome: Sendable {
    var read = 0
    var written = 0
    /// Whether there is nothing to report, because a wait ended without a change.
    var isEmptyPage = false
    /// The failures of the call, or of single batches of a successful call.
    var failures: [StorageError] = []
}

extension CallOutcome {
    init(_ results: [Result<CommitReceipt, StorageError>], of batches: [WriteBatch]) {
        for (result, batch) in zip(results, batches) {
            switch result {
            case .success: written += batch.writes.count
            case .failure(let error): failures.append(error)
            }
        }
    }
}

extension ReadResult.Payload {
    var documentCount: Int {
        switch self {
        case .documents(let documents): documents.count { $0 != nil }
        case .found(let documents): documents.count
        case .values, .names: 0
        }
    }
}

extension DocumentQuery.Scope {
    /// The collection's path without ids; a group's name after `**/`; `**` for everything.
    var anonymousName: String {
        switch self {
        case .collection(let path): path.anonymousName
        case .group(let name, _): "**/\(name)"
        case .everything: "**"
        }
    }
}

#endif
