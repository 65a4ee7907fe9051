import KeelStorage
internal import KeelStorageAdapting
import KeelStorageFirestore

extension StorageServer.Configuration {
    /// Checks that Google's server would answer a query, if ``compositeIndexes`` is set.
    ///
    /// - Throws: `StorageError/Code/indexRequired` with the index to declare.
    func checkIndexes(of operation: ReadOperation) throws(StorageError) {
        guard let compositeIndexes else { return }
        let missing: IndexDefinition? =
            switch operation {
            case .query(let query):
                QueryPlanner(compositeIndexes).missingComposite(for: PreparedQuery(query))
            case .aggregate(let query, let aggregations):
                QueryPlanner(compositeIndexes)
                    .missingComposite(for: PreparedQuery(query), aggregations)
            case .documents, .collections: nil
            }
        guard let missing else { return }
        throw StorageError(
            .indexRequired,
            "the query requires an index; add to “\(missing.firebaseList)” of "
                + "firestore.indexes.json: \(String(decoding: missing.firebaseEntry.bytes, as: UTF8.self))"
        )
    }
}

/// The form of the Firebase CLI: https://firebase.google.com/docs/reference/firestore/indexes.
extension IndexDefinition {
    fileprivate var firebaseList: String { components.count > 1 ? "indexes" : "fieldOverrides" }

    fileprivate var firebaseEntry: FirestoreJSON {
        let scope = FirestoreJSON.string(scope == .group ? "COLLECTION_GROUP" : "COLLECTION")
        let fields = components.map { component -> (FirestoreJSON, String, FirestoreJSON) in
            let field = FirestoreJSON.string("\(component.field)")
            switch component {
            case .ascending: return (field, "order", "ASCENDING")
            case .descending: return (field, "order", "DESCENDING")
            case .contains: return (field, "arrayConfig", "CONTAINS")
            }
        }
        guard fields.count > 1 else {
            let (field, key, value) = fields[0]
            return [
                "collectionGroup": .string(collection), "fieldPath": field,
                "indexes": [.members([key: value, "queryScope": scope])],
            ]
        }
        return [
            "collectionGroup": .string(collection), "queryScope": scope,
            "fields": .array(fields.map { .members(["fieldPath": $0, $1: $2]) }),
        ]
    }
}
