package import KeelStorage
import KeelStorageAdapting

/// The documents of a command.
package enum DocumentScope: Hashable, Sendable {
    case collection(CollectionPath)
    /// The documents of all collections with a name.
    case group(String)

    package var query: DocumentQuery {
        switch self {
        case .collection(let path): DocumentQuery(path)
        case .group(let name): DocumentQuery(group: name)
        }
    }

    var changes: ChangeScope { .query(query) }

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
