package import KeelStorage

/// A difference between two stores.
package enum DocumentDifference: Hashable, Sendable {
    case onlyInFirst(DocumentPath)
    case onlyInSecond(DocumentPath)
    /// These fields of the document differ, or exist in only one store.
    case fields(DocumentPath, [FieldPath])
    /// The document cannot be read in a store.
    case unreadable(UnreadableDocument, isInFirst: Bool)

    /// Returns the fields in which two documents differ; for maps, the fields inside; 3 differs from 3.0.
    static func fields(
        of first: DocumentFields,
        and second: DocumentFields,
        below names: [String] = []
    ) -> [FieldPath] {
        let all = Set((first.names + second.names).map { FieldPath(names: [$0]) })
        return all.sorted().flatMap { field -> [FieldPath] in
            let (one, other) = (first[field], second[field])
            let path = names + field.names
            if let one = one?.mapValue, let other = other?.mapValue {
                return fields(of: one, and: other, below: path)
            }
            return isSame(one, other) ? [] : [FieldPath(names: path)]
        }
    }

    private static func isSame(_ one: DocumentValue?, _ other: DocumentValue?) -> Bool {
        guard let one, let other else { return false }
        // By their stored bytes: NaN equals itself, and 0 differs from -0.
        return DocumentBody(["": one]).bytes == DocumentBody(["": other]).bytes
    }
}

/// The counts of a comparison.
package struct ComparisonReport: Hashable, Sendable {
    package var same = 0
    package var onlyInFirst = 0
    package var onlyInSecond = 0
    /// The number of documents in both stores with different fields.
    package var different = 0
    /// The number of documents that are unreadable in at least one store.
    package var unreadable = 0

    package init() {}

    /// Whether no difference was found in readable documents.
    package var isSame: Bool { onlyInFirst + onlyInSecond + different == 0 }

    package var count: Int { same + onlyInFirst + onlyInSecond + different + unreadable }
}
