import KeelStorage
import KeelStorageFirestore
import KeelTestKit

extension VectorValue {
    /// Returns the value without sentinels and collects the transforms; nil if it held only transforms.
    ///
    /// - Throws: ``Inexpressible`` for a sentinel that Keel cannot express.
    func value(at names: [String], transforms: inout [FieldTransform]) throws -> DocumentValue? {
        switch self {
        case .null: return .null
        case .boolean(let value): return .boolean(value)
        case .integer(let value): return .integer(value)
        case .double(let value): return .double(value)
        case .string(let value): return .string(value)
        case .array(let values): return .array(try values.map { try $0.element() })
        case .object(let members):
            var fields = DocumentFields()
            for (name, value) in members {
                fields[name] = try value.value(at: names + [name], transforms: &transforms)
            }
            // A map that held only transforms is not set, because the transforms create it.
            return fields.isEmpty && !members.isEmpty && !names.isEmpty ? nil : .map(fields)
        case .delete: throw Inexpressible.removalInSet
        case .serverTimestamp, .arrayUnion, .arrayRemove:
            guard case .transform(let operation)? = try action() else { return nil }
            transforms.append(FieldTransform(FieldPath(names: names), operation))
            return nil
        }
    }

    /// Returns the value as an element of a list, which must not contain sentinels.
    func element() throws -> DocumentValue {
        switch self {
        case .delete, .serverTimestamp, .arrayUnion, .arrayRemove:
            throw Inexpressible.sentinelInArray
        case .object(let members):
            return .map(DocumentFields(try members.map { ($0.name, try $0.value.element()) }))
        default:
            var none: [FieldTransform] = []
            guard let value = try value(at: ["element"], transforms: &none) else {
                throw Inexpressible.sentinelInArray
            }
            return value
        }
    }

    /// Returns the value as an operand of a query, which must not contain sentinels.
    func compared() throws -> DocumentValue {
        do {
            return try element()
        } catch Inexpressible.sentinelInArray { throw Inexpressible.sentinelInQuery }
    }

    /// Returns the change of a field that a sentinel requests; nil for a value.
    func action() throws -> FieldChange.Action? {
        switch self {
        case .delete: .remove
        case .serverTimestamp: .transform(.serverTimestamp)
        case .arrayUnion(let values): .transform(.arrayUnion(try values.map { try $0.element() }))
        case .arrayRemove(let values): .transform(.arrayRemove(try values.map { try $0.element() }))
        case .object(let members) where members.contains(where: { $0.value.isRemoval }):
            throw Inexpressible.removalInValue
        default: nil
        }
    }

    private var isRemoval: Bool { if case .delete = self { true } else { false } }

    /// Returns the changes of a merge, one for each leaf.
    func leafChanges(under names: [String]) throws -> [FieldChange] {
        if case .object(let members) = self, !members.isEmpty || names.isEmpty {
            return try members.flatMap { try $0.value.leafChanges(under: names + [$0.name]) }
        }
        let field = FieldPath(names: names)
        return [FieldChange(field, try action() ?? .set(try element()))]
    }

    /// The value at a path in nested maps.
    subscript(names: ArraySlice<String>) -> VectorValue? {
        guard let name = names.first else { return self }
        guard case .object(let members) = self else { return nil }
        return members.first { $0.name == name }?.value[names.dropFirst()]
    }

    /// Returns whether a removal is in a field outside the given paths.
    func hasRemoval(outside paths: [FieldPath]) -> Bool {
        guard case .object(let members) = self else { return false }
        return members.contains { member in
            member.value.isRemoval && !paths.contains { $0.names.first == member.name }
        }
    }
}

/// A vector's query, built with Keel's API.
struct FirestoreQueryCall {
    let vector: FirestoreVector

    func query() throws -> DocumentQuery {
        guard case .string(let collection)? = vector.content["collPath"],
            case .array(let clauses)? = vector.content["clauses"]
        else { return DocumentQuery("") }
        let root = "projects/projectID/databases/(default)/documents/"
        var query = DocumentQuery(CollectionPath(String(collection.dropFirst(root.count))))
        for clause in clauses {
            guard let member = clause.members?.first else { continue }
            query = try adding(member.name, member.value, to: query)
        }
        return query
    }

    private func adding(
        _ name: String,
        _ content: FirestoreJSON,
        to query: DocumentQuery
    ) throws -> DocumentQuery {
        var query = query
        switch name {
        case "where": return query.where(try filter(content))
        case "orderBy":
            let isDescending = content["direction"] == "desc"
            return query.order(
                by: FieldPath(vector: content["path"]),
                isDescending ? .descending : .ascending
            )
        case "select":
            if case .array(let fields)? = content["fields"] {
                query.projection = fields.map(FieldPath.init(vector:))
            }
        case "offset": if case .integer(let count) = content { return query.offset(Int(count)) }
        case "limit": if case .integer(let count) = content { return query.limit(to: Int(count)) }
        default: return try bounded(query, by: name, content)
        }
        return query
    }

    private func bounded(
        _ query: DocumentQuery,
        by name: String,
        _ content: FirestoreJSON
    ) throws -> DocumentQuery {
        if let snapshot = content["docSnapshot"] {
            let document = try document(snapshot)
            return switch name {
            case "startAt": query.start(at: document)
            case "startAfter": query.start(after: document)
            case "endAt": query.end(at: document)
            default: query.end(before: document)
            }
        }
        var values: [DocumentValue] = []
        if case .array(let given)? = content["jsonValues"] {
            values = try given.map { value in
                guard case .string(let json) = value else { return .null }
                return try VectorValue(json: json).compared()
            }
        }
        var query = query
        switch name {
        case "startAt": query.start = .init(values, isInclusive: true)
        case "startAfter": query.start = .init(values, isInclusive: false)
        case "endAt": query.end = .init(values, isInclusive: true)
        default: query.end = .init(values, isInclusive: false)
        }
        return query
    }

    private func filter(_ content: FirestoreJSON) throws -> DocumentFilter {
        guard case .string(let json)? = content["jsonValue"],
            case .string(let name)? = content["op"]
        else { return .and([]) }
        let comparisons: [String: DocumentFilter.Comparison] = [
            "==": .equal, "!=": .notEqual, "<": .less, "<=": .lessOrEqual, ">": .greater,
            ">=": .greaterOrEqual, "in": .in, "not-in": .notIn, "array-contains": .arrayContains,
            "array-contains-any": .arrayContainsAny,
        ]
        guard let comparison = comparisons[name] else { throw Inexpressible.unknownOperator }
        return .field(
            FieldPath(vector: content["path"]),
            comparison,
            try VectorValue(json: json).compared()
        )
    }

    private func document(_ snapshot: FirestoreJSON) throws -> Document {
        guard case .string(let name)? = snapshot["path"],
            case .string(let json)? = snapshot["jsonData"],
            case .map(let fields) = try VectorValue(json: json).element()
        else { throw Inexpressible.sentinelInQuery }
        let root = "projects/projectID/databases/(default)/documents/"
        return Document.stub(
            DocumentPath(String(name.dropFirst(root.count))),
            fields,
            at: Timestamp(microseconds: 1)
        )
    }
}
