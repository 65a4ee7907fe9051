internal import KeelStorage
internal import KeelStorageAdapting

#if canImport(FoundationEssentials)
internal import FoundationEssentials
#else
internal import Foundation
#endif

/// A source in a store that reports changes by anyone.
protocol FollowedSource<Element>: LocalDataSource {
    /// Returns the scope for changes to one element, or to any.
    func scope(of id: String?) -> StoreScope

    func copies(of ids: [String]) async throws(DataSourceError) -> KeptCopy<[Element?]>

    func copyOfAll() async throws(DataSourceError) -> KeptCopy<[Element]>
}

/// A ledger in a store that reports changes by anyone.
protocol FollowedLedger: FetchLedger {
    /// Returns the scope for changes to the entry of a key.
    func scope(of key: String) -> StoreScope

    func copy(of key: String) async throws(DataSourceError) -> KeptCopy<Date>
}

extension CollectionDataSource: FollowedSource {
    func scope(of id: String?) -> StoreScope {
        StoreScope(
            client: collection.client,
            collection: collection.path,
            document: id.map(collection.path.document)
        )
    }

    @concurrent
    func copies(of ids: [String]) async throws(DataSourceError) -> KeptCopy<[Element?]> {
        try await DataSourceError.local {
            let paths = ids.map(collection.path.document)
            for path in paths { try DocumentValidation.check(path) }
            let result = try await collection.client.readAtPosition(.documents(paths), "find")
            let documents = try result.documents
            var elements: [Element?] = []
            for document in documents {
                elements.append(
                    try document.map { document throws(StorageError) in
                        try collection.decoder.decode(Element.self, from: document)
                    }
                )
            }
            let bytes = documents.reduce(0) { $0 + ($1?.body.bytes.count ?? 0) }
            return KeptCopy(elements, at: result.position, bytes: bytes)
        }
    }

    @concurrent
    func copyOfAll() async throws(DataSourceError) -> KeptCopy<[Element]> {
        try await DataSourceError.local {
            let query = try collection.client.check(collection.everything, for: "findAll")
            let result = try await collection.client.readAtPosition(.query(query), "findAll")
            let documents = try result.found
            var elements: [Element] = []
            elements.reserveCapacity(documents.count)
            for document in documents {
                elements.append(try collection.decoder.decode(Element.self, from: document))
            }
            let bytes = documents.reduce(0) { $0 + $1.body.bytes.count }
            return KeptCopy(elements, at: result.position, bytes: bytes)
        }
    }
}

extension StorageClient {
    fileprivate func readAtPosition(
        _ operation: ReadOperation,
        _ name: String
    ) async throws(StorageError) -> ReadResult {
        var request = ReadRequest(operation)
        request.needsPosition = capabilities.contains(.changeLog)
        if case .query = operation { request.isStrict = configuration.isStrict }
        return try await read(request, for: name)
    }
}
