public import KeelDocuments

/// The result of a query at one moment, with its changes since the previous snapshot.
public struct QuerySnapshot: Sendable {
    /// The documents, in the query's order.
    public let documents: [Document]

    /// The steps from the previous snapshot to this one.
    ///
    /// Each step's indexes refer to the list after the steps before it. The first snapshot adds every document.
    public let changes: [DocumentChange]

    /// The documents of the query's collections that cannot be read, by path.
    ///
    /// They are not in ``documents``, even if the query would find them.
    public let failures: [UnreadableDocument]

    /// Whether the store cannot be reached, so that the result may be out of date.
    ///
    /// A snapshot, with or without changes, reports the beginning of an outage, and its end. The first snapshot is
    /// always read from the store.
    public let isFromCache: Bool
}

/// One step from a query's result to the next.
public struct DocumentChange: Sendable, Hashable {
    /// The kind of change of the document.
    public enum Kind: Sendable, Hashable {
        /// The document entered the result at this index.
        case added(at: Int)
        /// The document changed, and moved from one index to another or the same.
        case modified(from: Int, to: Int)
        /// The document left the result, where it had this index.
        case removed(from: Int)
    }

    /// The kind of change.
    public let kind: Kind
    /// The current document; for a removed one, its last state in the result.
    public let document: Document

    init(_ kind: Kind, _ document: Document) {
        self.kind = kind
        self.document = document
    }
}

extension Array {
    package mutating func apply<Failure: Error>(
        _ changes: [DocumentChange],
        making element: (Document) throws(Failure) -> Element
    ) throws(Failure) {
        for change in changes {
            switch change.kind {
            case .added(let index): insert(try element(change.document), at: index)
            case .removed(let index): remove(at: index)
            case .modified(let old, let new):
                let replacement = try element(change.document)
                replace(at: old, by: replacement, movedTo: new)
            }
        }
    }

    /// Replaces an element and moves it to a new index, shifting only the elements in between.
    package mutating func replace(at old: Int, by element: Element, movedTo new: Int) {
        self[old] = element
        precondition(indices.contains(new), "an element moves within the array")
        guard old != new else { return }
        withUnsafeMutableBufferPointer { buffer in
            guard let start = buffer.baseAddress else { return }
            let moving = (start + old).move()
            if old < new {
                (start + old).moveInitialize(from: start + old + 1, count: new - old)
            } else {
                (start + new + 1).moveInitialize(from: start + new, count: old - new)
            }
            (start + new).initialize(to: moving)
        }
    }
}
