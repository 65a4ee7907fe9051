internal import Foundation
package import KeelStorage
internal import KeelStorageAdapting

/// The names in a store for completion; those of fields are cached for a minute.
package actor StoreNames {
    /// The maximum number of names per place.
    package static let most = 100
    /// The number of documents whose fields are read.
    private static let sampled = 50
    /// The time for which fields are cached in seconds, and the maximum number of collections.
    private static let (memory, capacity) = (60.0, 32)

    private let client: StorageClient
    private var fields: [CollectionPath: (names: [String], date: Date)] = [:]

    package init(_ adapter: any StorageAdapter) { client = StorageClient(adapter) }

    /// Returns the collections or the ids of documents in a place that begin with a prefix.
    ///
    /// There are at most ``most``, plus one if there are more.
    package func names(
        in path: ShellPath,
        beginningWith prefix: String
    ) async throws(StorageError) -> [String] {
        guard let collection = path.collection else {
            let names = try await client.collections(under: path.document)
            return Array(names.filter { $0.hasPrefix(prefix) }.prefix(Self.most + 1))
        }
        var query = DocumentQuery(collection).order(by: .documentID).limit(to: Self.most + 1)
        if !prefix.isEmpty { query = query.start(at: .reference(collection.document(prefix))) }
        query.projection = []
        return try await client.queryDocuments(query).map(\.id)
            .prefix { $0.hasPrefix(prefix) }
            .map { $0 }
    }

    /// Returns at most 500 sorted fields of the first 50 documents of a collection, also in maps to a depth of three.
    package func fields(of collection: CollectionPath) async throws(StorageError) -> [String] {
        let now = Date()
        if let known = fields[collection], now.timeIntervalSince(known.date) < Self.memory {
            return known.names
        }
        let page = try await client.page(DocumentQuery(collection), size: Self.sampled)
        var names: Set<String> = []
        for document in page.items {
            guard let fields = try? document.fields() else { continue }
            Self.collect(fields, [], &names)
        }
        if fields.count >= Self.capacity { fields = [:] }
        fields[collection] = (names.sorted(), now)
        return names.sorted()
    }

    private static func collect(
        _ fields: DocumentFields,
        _ above: [String],
        _ names: inout Set<String>
    ) {
        for field in fields {
            guard names.count < 500 else { return }
            let path = above + [field.name]
            names.insert(FieldPath(names: path).description)
            if let map = field.value.mapValue, path.count < 3 { collect(map, path, &names) }
        }
    }
}
