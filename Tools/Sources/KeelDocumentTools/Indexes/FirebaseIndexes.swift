package import Foundation
package import KeelStorage
internal import KeelToolSupport

/// The indexes of a `firestore.indexes.json` file, which Firebase's command line uses.
///
/// The format is described at firebase.google.com/docs/reference/firestore/indexes. The indexes under `fieldOverrides`
/// are declared like the others, because Keel has no implicit ones for single fields. `__name__` at the end of an index
/// is implied.
package struct FirebaseIndexes: Sendable {
    /// The indexes that Keel supports.
    package private(set) var schema = StorageSchema()
    /// A text about each part that Keel does not support: an index, its direction of `__name__`, or a time to live.
    package private(set) var leftOut: [String] = []

    /// Reads a file; `-` is standard input.
    ///
    /// - Throws: `ToolError` if the file cannot be read, or does not have the format.
    package init(file path: String) throws {
        let json: Data
        do {
            json =
                path == "-"
                ? try FileHandle.standardInput.readToEnd() ?? Data()
                : try Data(contentsOf: URL(fileURLWithPath: path))
        } catch {
            throw ToolError(
                "“\(path)” cannot be read: \(ToolError.reason(error))",
                advice: "Check the path; to write such a file: "
                    + "firebase firestore:indexes > firestore.indexes.json"
            )
        }
        try self.init(json)
    }

    /// Parses the contents of a file.
    ///
    /// - Throws: `ToolError` if they do not have the format.
    package init(_ json: Data) throws {
        let file: File
        do {
            file = try JSONDecoder().decode(File.self, from: json)
        } catch {
            throw ToolError(
                "the file is not a valid firestore.indexes.json: \(Self.reason(error))",
                advice: "Write it with: firebase firestore:indexes > firestore.indexes.json"
            )
        }
        for index in file.indexes ?? [] { add(index) }
        for override in file.fieldOverrides ?? [] { add(override) }
    }

    private mutating func add(_ index: Index) {
        let name = index.name
        guard let scope = scope(index.queryScope, of: name) else { return }
        var fields = index.fields[...]
        if fields.last?.fieldPath == "__name__", let last = fields.popLast() {
            let implied = fields.last?.order ?? "ASCENDING"
            if (last.order ?? "ASCENDING") != implied {
                leftOut.append("\(name): __name__ in another direction than the field before it")
            }
        }
        let components = fields.compactMap { component($0, of: name) }
        guard components.count == fields.count, !components.isEmpty else { return }
        declare(IndexDefinition(index.collectionGroup, scope: scope, components))
    }

    private mutating func add(_ override: Override) {
        let name = "\(override.collectionGroup).\(override.fieldPath)"
        if override.ttl == true { leftOut.append("\(name): time to live (ttl)") }
        let indexes = override.indexes ?? []
        guard override.fieldPath != "*" || indexes.isEmpty else {
            leftOut.append("\(name): an index on every field")
            return
        }
        for index in indexes {
            let field = Field(
                fieldPath: override.fieldPath,
                order: index.order,
                arrayConfig: index.arrayConfig,
                vectorConfig: index.vectorConfig
            )
            guard let scope = scope(index.queryScope, of: name),
                let component = component(field, of: name)
            else { continue }
            declare(IndexDefinition(override.collectionGroup, scope: scope, [component]))
        }
    }

    private mutating func declare(_ index: IndexDefinition) {
        if !schema.indexes.contains(index) { schema.indexes.append(index) }
    }

    private mutating func scope(_ text: String?, of name: String) -> IndexDefinition.Scope? {
        switch text ?? "COLLECTION" {
        case "COLLECTION": return .collection
        case "COLLECTION_GROUP": return .group
        case let other:
            leftOut.append("\(name): the scope \(other)")
            return nil
        }
    }

    private mutating func component(
        _ field: Field,
        of name: String
    ) -> IndexDefinition.Component? {
        let path = FieldPath(field.fieldPath)
        switch (field.vectorConfig, field.arrayConfig, field.order) {
        case (nil, nil, "ASCENDING"): return .ascending(path)
        case (nil, nil, "DESCENDING"): return .descending(path)
        case (nil, "CONTAINS", _): return .contains(path)
        case (.some, _, _): leftOut.append("\(name): a vector index on \(field.fieldPath)")
        case (nil, let array, let order):
            let kind = array ?? order ?? "neither order nor arrayConfig"
            leftOut.append("\(name): \(kind) on \(field.fieldPath)")
        }
        return nil
    }

    private static func reason(_ error: any Error) -> String {
        guard let error = error as? DecodingError else { return error.localizedDescription }
        switch error {
        case .keyNotFound(let key, _): return "“\(key.stringValue)” is missing"
        case .typeMismatch(_, let context), .valueNotFound(_, let context):
            let place = context.codingPath.map(\.stringValue).joined(separator: ".")
            return "“\(place)” has another type"
        default: return "it is not valid JSON"
        }
    }
}
