package import KeelStorage

/// A place in a store: the top, a collection or a document.
package struct ShellPath: Hashable, Sendable {
    private var segments: [String]

    package static let top = ShellPath(segments: [])

    /// The path without a leading slash; empty for the top.
    package var string: String { segments.joined(separator: "/") }

    /// The collection; nil for the top and for a document.
    package var collection: CollectionPath? {
        segments.count % 2 == 1 ? CollectionPath(string) : nil
    }

    /// The document; nil for the top and for a collection.
    package var document: DocumentPath? {
        segments.count % 2 == 0 && !segments.isEmpty ? DocumentPath(string) : nil
    }

    /// Resolves a text relative to this place like a file's path: `..` is the place above, a leading slash the top.
    package func resolving(_ text: String) -> ShellPath {
        var result = text.hasPrefix("/") ? Self.top : self
        for segment in text.split(separator: "/") {
            switch segment {
            case ".": break
            case "..": _ = result.segments.popLast()
            default: result.segments.append(String(segment))
            }
        }
        return result
    }
}

extension ShellPath: CustomStringConvertible {
    package var description: String { "/" + string }
}
