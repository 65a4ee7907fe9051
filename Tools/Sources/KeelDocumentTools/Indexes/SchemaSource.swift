package import KeelStorage

/// The Swift code that declares a schema.
package enum SchemaSource {
    package static func swift(_ schema: StorageSchema, name: String = "schema") -> String {
        guard !schema.indexes.isEmpty else { return "let \(name) = StorageSchema()" }
        let lines = schema.indexes.map { "    \($0),\n" }.joined()
        return "let \(name) = StorageSchema(indexes: [\n\(lines)])"
    }
}
