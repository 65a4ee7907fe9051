import KeelStorage
import KeelToolSupport

/// A document that cannot be read, for programs.
struct UnreadableRecord: Encodable {
    let path: String
    let reason: String

    /// The records of documents, sorted by path.
    static func all(_ documents: some Sequence<UnreadableDocument>) -> [Self] {
        documents.sorted { $0.path < $1.path }.map { document in
            let reason = ToolError(describing: document.error).message
            return Self(path: document.path.string, reason: reason)
        }
    }

    /// The records of the reasons by path, sorted by path.
    static func all(_ reasons: [String: String]) -> [Self] {
        reasons.map { Self(path: $0.key, reason: $0.value) }
            .sorted { DocumentPath($0.path) < DocumentPath($1.path) }
    }
}
