package import KeelStorage

/// A difference between two stores.
package enum DocumentDifference: Hashable, Sendable {
    /// Only the first store has the document.
    case onlyInFirst(DocumentPath)
    /// Only the second store has the document.
    case onlyInSecond(DocumentPath)
    /// These fields of the document differ, or are in one store only.
    case fields(DocumentPath, [FieldPath])
    /// The document cannot be read in a store, so that it is unknown whether it differs.
    case unreadable(UnreadableDocument, isInFirst: Bool)

    /// Returns the fields in which two documents differ, of maps those inside of them.
    ///
    /// Values of different types differ: 3 is not 3.0.
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
        // As they are stored: not a number is itself then, and zero has a sign.
        return DocumentBody(["": one]).bytes == DocumentBody(["": other]).bytes
    }
}

/// What a comparison of two stores found.
package struct ComparisonReport: Hashable, Sendable {
    /// How many documents are the same in both.
    package var same = 0
    package var onlyInFirst = 0
    package var onlyInSecond = 0
    /// How many documents both have, with other fields.
    package var different = 0
    /// How many documents cannot be read in one of them or in both.
    package var unreadable = 0

    package init() {}

    /// Whether no difference was found.
    package var isSame: Bool { onlyInFirst + onlyInSecond + different == 0 }

    /// How many documents were looked at.
    package var count: Int { same + onlyInFirst + onlyInSecond + different + unreadable }
}
