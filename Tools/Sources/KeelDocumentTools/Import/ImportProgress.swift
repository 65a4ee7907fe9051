/// The progress of an import.
package struct ImportProgress: Hashable, Sendable {
    /// The number of acknowledged documents, including those of earlier runs.
    package var imported = 0
    /// The number of rejected elements.
    package var bad = 0
    /// The number of finished bytes of the file.
    package var bytes = 0
    /// The size of the file in bytes.
    package var size = 0
    /// The number of documents that an earlier run imported.
    package var resumedFrom = 0
    /// The number of the last finished element.
    package var number = 0
}

/// An element that could not be imported.
package struct BadElement: Hashable, Sendable {
    /// The number of its line, or its position in the array, starting at 1.
    package let number: Int
    /// The reason, in one sentence.
    package let reason: String
}
