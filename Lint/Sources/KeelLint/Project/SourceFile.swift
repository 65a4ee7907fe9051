/// A file of the project, and where it belongs.
package struct SourceFile: Sendable {
    /// The path relative to the root, with `/`.
    package let path: String
    /// The target; nil where the project is no package.
    package let target: String?
    /// The target's folder, relative to the root.
    package let targetFolder: String?
    package let isTest: Bool
    package let facts: SourceFacts
    /// The position of its layer in the configuration.
    package var layer: Int?

    /// The last component.
    package var name: Substring {
        path.lastIndex(of: "/").map { path[path.index(after: $0)...] } ?? path[...]
    }

    /// Everything before the name, without the slash at the end.
    package var folder: Substring {
        path.lastIndex(of: "/").map { path[..<$0] } ?? ""
    }

    /// The name of the declaration that a fact stands in, for people and for the baseline.
    package func symbol(_ declaration: Int32) -> String {
        facts.declarations.indices.contains(Int(declaration))
            ? facts.declarations[Int(declaration)].qualifiedName : "-"
    }

    package func declaration(_ index: Int32) -> DeclarationFact? {
        facts.declarations.indices.contains(Int(index)) ? facts.declarations[Int(index)] : nil
    }
}
