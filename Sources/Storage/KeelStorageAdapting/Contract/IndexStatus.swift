public import KeelDocuments

/// An index of a store, as an SQL adapter reports it.
public struct IndexStatus: Sendable, Hashable {
    /// The definition: one index, or one search.
    public let schema: StorageSchema
    /// The name of the index in query plans.
    public let name: String
    /// The share of the documents that has been indexed, from 0 to 1.
    ///
    /// At 1, queries use the index; before that, they scan. An index of fields stays below 1 while a document that it
    /// covers cannot be read; a search is completed without such documents.
    public let progress: Double

    package init(_ index: StoredIndex, last: Int64) {
        switch index.kind {
        case .fields(let definition): schema = StorageSchema(indexes: [definition])
        case .search(let definition): schema = StorageSchema(searches: [definition])
        }
        name = index.kind.name
        progress = index.built.map { min(Double($0) / Double(max(last, 1)), 0.999) } ?? 1
    }
}
