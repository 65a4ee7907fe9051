package import KeelStorageAdapting

extension FirestoreEncoding {
    package static func schema(_ schema: StorageSchema) -> FirestoreJSON {
        [
            "indexes": .array(schema.indexes.map(index)),
            "searches": .array(
                schema.searches.map { search in
                    [
                        "collection": .string(search.collection),
                        "fields": .array(search.fields.map { .string($0.description) }),
                    ]
                }
            ),
        ]
    }

    package static func index(_ index: IndexDefinition) -> FirestoreJSON {
        let components = index.components.map { component -> FirestoreJSON in
            switch component {
            case .ascending(let field): ["ascending": .string(field.description)]
            case .descending(let field): ["descending": .string(field.description)]
            case .contains(let field): ["contains": .string(field.description)]
            }
        }
        return [
            "collection": .string(index.collection),
            "scope": .string(index.scope.rawValue),
            "components": .array(components),
            "isEqualityOnly": .boolean(index.isEqualityOnly),
        ]
    }

    package static func plan(_ plan: QueryPlan) -> FirestoreJSON {
        let (access, name): (FirestoreJSON, String?) =
            switch plan.access {
            case .index(let name): ("index", name)
            case .identifiers: ("identifiers", nil)
            case .search(let name): ("search", name)
            case .scan: ("scan", nil)
            }
        return .members([
            "access": access, "name": name.map(FirestoreJSON.string),
            "examined": .string("\(plan.examined)"), "suggestion": plan.suggestion.map(index),
        ])
    }
}

extension FirestoreDecoding {
    package func schema(_ json: FirestoreJSON) throws(StorageError) -> StorageSchema {
        var schema = StorageSchema()
        for element in try json.list("indexes") { schema.indexes.append(try index(element)) }
        for element in try json.list("searches") {
            schema.searches.append(
                SearchDefinition(
                    try collection(of: element),
                    fields: try fieldList("fields", of: element)
                )
            )
        }
        return schema
    }

    package func index(_ json: FirestoreJSON) throws(StorageError) -> IndexDefinition {
        var components: [IndexDefinition.Component] = []
        for element in try json.list("components") { components.append(try component(element)) }
        guard !components.isEmpty else { throw Self.flaw("an index has no components") }
        let scope = try json.text("scope") ?? IndexDefinition.Scope.collection.rawValue
        guard let scope = IndexDefinition.Scope(rawValue: scope) else {
            throw Self.flaw("the scope of an index is “collection” or “group”")
        }
        return IndexDefinition(
            try collection(of: json),
            scope: scope,
            components,
            isEqualityOnly: try json.flag("isEqualityOnly") ?? false
        )
    }

    package func plan(_ json: FirestoreJSON) throws(StorageError) -> QueryPlan {
        let name = try json.text("name") ?? ""
        let access: QueryPlan.Access =
            switch try json.text("access") {
            case "index": .index(name)
            case "identifiers": .identifiers
            case "search": .search(name)
            default: .scan
            }
        return QueryPlan(
            access: access,
            examined: Int(try json.wholeNumber("examined") ?? 0),
            suggestion: try json.object("suggestion").map { json throws(StorageError) in
                try index(json)
            }
        )
    }

    private func component(
        _ json: FirestoreJSON
    ) throws(StorageError) -> IndexDefinition.Component {
        if let text = try json.text("ascending") { return .ascending(try field(text)) }
        if let text = try json.text("descending") { return .descending(try field(text)) }
        if let text = try json.text("contains") { return .contains(try field(text)) }
        throw Self.flaw("a component has none of “ascending”, “descending” and “contains”")
    }

    private func collection(of json: FirestoreJSON) throws(StorageError) -> String {
        guard let name = try json.text("collection"), !name.isEmpty else {
            throw Self.flaw("“collection” is missing")
        }
        return name
    }

    private func fieldList(
        _ name: String,
        of json: FirestoreJSON
    ) throws(StorageError) -> [FieldPath] {
        var fields: [FieldPath] = []
        for element in try json.list(name) { fields.append(try field(element.text)) }
        return fields
    }
}
