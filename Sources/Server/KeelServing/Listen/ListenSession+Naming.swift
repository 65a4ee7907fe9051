internal import KeelStorage
internal import KeelStorageAdapting

extension ListenSession {
    /// The progress of the read of a resumed target's names.
    ///
    /// Without them, the client receives changes of documents that do not match, and the hub cannot find the target by
    /// its condition.
    enum Naming {
        /// The store is asked; the client shows a position.
        case asked(ReadID, shown: ChangeCursor)
        /// The names at a position that the stream has not reached.
        case answered([DocumentPath], at: ChangeCursor)
    }

    /// Asks for the names of a target's documents, if they are unknown.
    mutating func askForNames(
        of id: Int32,
        at shown: ChangeCursor,
        _ effects: inout [Effect]
    ) {
        guard let names = targets[id]?.view.names else { return }
        nextRead += 1
        targets[id]?.naming = .asked(nextRead, shown: shown)
        targets[id]?.view.awaitNames()
        effects.append(.read(nextRead, names))
    }

    func target(naming read: ReadID) -> Int32? {
        targets.first { if case .asked(read, _)? = $0.value.naming { true } else { false } }?.key
    }

    /// Takes the names of a target's documents; nil if they cannot be read.
    mutating func answer(_ id: Int32, _ names: [DocumentPath]?, at position: ChangeCursor?) {
        guard case .asked(_, let shown)? = targets[id]?.naming, let names, let position,
            shown <= position
        else {
            targets[id]?.naming = nil
            targets[id]?.view.learn(nil)
            return
        }
        targets[id]?.naming = .answered(names, at: position)
    }

    /// Gives targets the names that the stream has reached, at a consistent point.
    ///
    /// Before such a point, changes by which documents leave a result may be missing.
    mutating func takeNames(at point: ChangeCursor) {
        for (id, target) in targets {
            guard case .answered(let names, let position)? = target.naming, position <= point else {
                continue
            }
            targets[id]?.naming = nil
            targets[id]?.view.learn(names)
        }
    }
}
