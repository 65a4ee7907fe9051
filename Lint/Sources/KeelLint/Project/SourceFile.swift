package struct SourceFile: Sendable {
    /// Relative to the root, with `/`.
    package let path: String
    /// Nil outside of all targets of packages.
    package let target: String?
    package let targetFolder: String?
    package let isTest: Bool
    package let facts: SourceFacts
    /// The index of its layer in the configuration; nil for tests and outside of all layers.
    package var layer: Int?

    package var name: Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }

    package var folder: Substring {
        path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }

    /// The name of a declaration, for messages and the baseline; `-` at the top level.
    package func symbol(_ declaration: Int32) -> String {
        facts.declarations.indices.contains(Int(declaration))
            ? facts.declarations[Int(declaration)].qualifiedName : "-"
    }

    package func declaration(_ index: Int32) -> DeclarationFact? {
        facts.declarations.indices.contains(Int(index)) ? facts.declarations[Int(index)] : nil
    }
}
