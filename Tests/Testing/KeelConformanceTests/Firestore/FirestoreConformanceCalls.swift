import KeelStorage
import KeelStorageFirestore

/// A construct of a vector that Keel's API cannot express.
///
/// Each is a mistake that the compiler reports before there is a request.
enum Inexpressible: String, Error {
    case sentinelInArray = "a transform or removal is a change of a field, never a value in a list"
    case removalInSet = "a set takes values, and a removal is none"
    case removalInValue = "a removal names its field; it cannot hide in the value of another"
    case absentMergedField = "a change carries its field’s value, so no field can be named without"
    case sentinelInQuery = "a query compares with values, and a transform is none"
    case unknownOperator = "the operators are the cases of an enumeration"
    case mapWithTransformInside =
        "one write may not change a map and a field in it; two writes of a batch can"
}

/// A vector's call, made with Keel's API.
struct FirestoreCall {
    let vector: FirestoreVector

    private static let root = "projects/projectID/databases/(default)/documents/"

    private func text(_ name: String) -> String {
        if case .string(let text)? = vector.content[name] { text } else { "" }
    }

    private var path: DocumentPath {
        DocumentPath(String(text("docRefPath").dropFirst(Self.root.count)))
    }

    private func members(_ json: String) throws -> [(name: String, value: VectorValue)] {
        guard case .object(let members) = try VectorValue(json: json) else { return [] }
        return members
    }

    func run(on client: StorageClient) async throws {
        switch vector.call {
        case "get": _ = try await client.findDocument(path)
        case "delete": try await client.deleteDocument(path, if: condition(or: .none))
        case "create": try await set(on: client, if: .isMissing)
        case "set":
            guard let option = vector.content["option"] else {
                try await set(on: client, if: .none)
                return
            }
            try await merge(option, on: client)
        case "update":
            let changes = try members(text("jsonData")).flatMap { name, value in
                try self.changes(of: FieldPath(name), to: value)
            }
            try await client.updateDocument(path, changes, if: condition(or: .exists))
        case "updatePaths":
            guard case .array(let paths)? = vector.content["fieldPaths"],
                case .array(let values)? = vector.content["jsonValues"]
            else { return }
            let changes = try zip(paths, values).flatMap { path, value -> [FieldChange] in
                guard case .string(let json) = value else { return [] }
                return try self.changes(
                    of: FieldPath(vector: path),
                    to: try VectorValue(json: json)
                )
            }
            try await client.updateDocument(path, changes, if: condition(or: .exists))
        default: _ = try await client.queryDocuments(try FirestoreQueryCall(vector: vector).query())
        }
    }

    private func condition(or usual: WriteCondition) -> WriteCondition {
        guard let given = vector.content["precondition"] else { return usual }
        if case .boolean(let exists)? = given["exists"] { return exists ? .exists : .isMissing }
        // The vectors use a single time: 42 seconds into 1970.
        return .updateTime(Timestamp(microseconds: 42_000_000))
    }

    private func set(on client: StorageClient, if condition: WriteCondition) async throws {
        var transforms: [FieldTransform] = []
        let data = VectorValue.object(try members(text("jsonData")))
        guard case .map(let fields)? = try data.value(at: [], transforms: &transforms) else {
            return
        }
        if transforms.isEmpty {
            try await client.setDocument(path, fields, if: condition)
        } else {
            let operation = DocumentWrite.Operation.set(
                DocumentBody(fields),
                transforms: transforms
            )
            try await client.commit([DocumentWrite(path, operation, if: condition)])
        }
    }

    private func merge(_ option: FirestoreJSON, on client: StorageClient) async throws {
        let data = VectorValue.object(try members(text("jsonData")))
        var changes: [FieldChange] = []
        if case .array(let paths)? = option["fields"] {
            for path in paths.map(FieldPath.init(vector:)) {
                guard let value = data[path.names[...]] else {
                    throw Inexpressible.absentMergedField
                }
                changes += try self.changes(of: path, to: value)
            }
            guard !data.hasRemoval(outside: paths.map(FieldPath.init(vector:))) else {
                throw Inexpressible.absentMergedField
            }
        } else {
            changes = try data.leafChanges(under: [])
        }
        guard !changes.isEmpty else {
            try await client.mergeDocument(path, [:])
            return
        }
        try await client.updateDocument(path, changes, if: .none)
    }

    /// Returns the changes that set a field to a value, with the value's transforms as separate changes.
    private func changes(of field: FieldPath, to value: VectorValue) throws -> [FieldChange] {
        if let action = try value.action() { return [FieldChange(field, action)] }
        var transforms: [FieldTransform] = []
        let plain = try value.value(at: field.names, transforms: &transforms)
        guard let plain, transforms.isEmpty else { throw Inexpressible.mapWithTransformInside }
        return [FieldChange(field, .set(plain))]
    }
}
