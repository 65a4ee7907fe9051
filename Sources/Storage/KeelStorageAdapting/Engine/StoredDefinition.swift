package import KeelDocuments

/// The stored form of definitions: encoded like documents, so that equal definitions have equal bytes.
extension StoredIndex.Kind {
    package var encoded: [UInt8] { DocumentBody(fields).bytes }

    private var fields: DocumentFields {
        switch self {
        case .fields(let index):
            [
                "collection": .string(index.collection),
                "scope": .string(index.scope.rawValue),
                "equality": .boolean(index.isEqualityOnly),
                "keys": .integer(Self.currentKeys),
                "components": .array(index.components.map(Self.value)),
            ]
        case .search(let search):
            [
                "collection": .string(search.collection),
                "search": .array(search.fields.map(Self.value)),
            ]
        }
    }

    /// The version of the entry key format: cut keys that omit the collection's path if it is stored separately.
    ///
    /// It is part of the definition: an index with another key format is another index.
    package static let currentKeys: Int64 = 2

    package static func decoded(
        _ encoded: [UInt8]
    ) throws(StorageError) -> (kind: Self, keys: Int64) {
        let fields = try DocumentBody(bytes: encoded).fields()
        guard let collection = fields["collection"]?.stringValue else { throw Self.damage }
        if let paths = fields["search"]?.arrayValue {
            let paths = try paths.map { value throws(StorageError) in try Self.path(value) }
            return (.search(SearchDefinition(collection, fields: paths)), currentKeys)
        }
        guard
            let scope = fields["scope"]?.stringValue.flatMap(IndexDefinition.Scope.init),
            let equality = fields["equality"]?.booleanValue,
            let values = fields["components"]?.arrayValue
        else { throw Self.damage }
        let components = try values.map { value throws(StorageError) in try Self.component(value) }
        let index = IndexDefinition(collection, scope: scope, components, isEqualityOnly: equality)
        return (.fields(index), fields["keys"]?.integerValue ?? 1)
    }

    package var name: String {
        switch self {
        case .fields(let index): index.name
        case .search(let search): search.name
        }
    }

    private static func value(_ path: FieldPath) -> DocumentValue {
        .map(["field": .array(path.names.map(DocumentValue.string))])
    }

    private static func path(_ value: DocumentValue) throws(StorageError) -> FieldPath {
        guard let names = value.mapValue?["field"]?.arrayValue else { throw damage }
        return FieldPath(names: names.compactMap(\.stringValue))
    }

    private static func value(_ component: IndexDefinition.Component) -> DocumentValue {
        let kind =
            switch component {
            case .ascending: "ascending"
            case .descending: "descending"
            case .contains: "contains"
            }
        var fields = value(component.field).mapValue ?? DocumentFields()
        fields["kind"] = .string(kind)
        return .map(fields)
    }

    private static func component(
        _ value: DocumentValue
    ) throws(StorageError) -> IndexDefinition.Component {
        let path = try path(value)
        switch value.mapValue?["kind"]?.stringValue {
        case "ascending": return .ascending(path)
        case "descending": return .descending(path)
        case "contains": return .contains(path)
        default: throw damage
        }
    }

    private static var damage: StorageError {
        StorageError(.corrupted, "the definition of an index in the store is damaged")
    }
}
