package import KeelStorage

/// A schema as the Swift code that declares it.
package enum SchemaSource {
    /// The code, ready to be pasted.
    package static func swift(_ schema: StorageSchema, name: String = "schema") -> String {
        guard !schema.indexes.isEmpty else { return "let \(name) = StorageSchema()" }
        let lines = schema.indexes.map { "    \($0),\n" }.joined()
        return "let \(name) = StorageSchema(indexes: [\n\(lines)])"
    }
}
