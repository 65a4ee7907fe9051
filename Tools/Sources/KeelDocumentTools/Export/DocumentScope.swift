package import KeelStorage
import KeelStorageAdapting

/// Which documents a command is about.
package enum DocumentScope: Hashable, Sendable {
    /// Those directly in a collection.
    case collection(CollectionPath)
    /// Those of every collection of a name.
    case group(String)

    /// The query for all of them.
    package var query: DocumentQuery {
        switch self {
        case .collection(let path): DocumentQuery(path)
        case .group(let name): DocumentQuery(group: name)
        }
    }

    /// Which changes concern it.
    var changes: ChangeScope { .query(query) }

    /// Whether a document belongs to it.
    func contains(_ path: DocumentPath) -> Bool {
        switch self {
        case .collection(let collection): path.collection == collection
        case .group(let name): path.collection.name == name
        }
    }
}

extension DocumentScope: CustomStringConvertible {
    package var description: String {
        switch self {
        case .collection(let path): path.string
        case .group(let name): "\(name) (all collections of this name)"
        }
    }
}
