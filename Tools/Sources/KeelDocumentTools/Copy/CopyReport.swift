internal import KeelStorage

/// What a copy did, and what a look at both sides afterwards found.
package struct CopyReport: Sendable {
    /// Documents of a scope on both sides.
    package struct Comparison: Hashable, Sendable {
        /// The collection, or the name of all collections of it.
        package let scope: DocumentScope
        /// What the source has.
        package let source: ScopeDigest
        /// What the target has.
        package let target: ScopeDigest

        /// Whether both have the same documents.
        package var isSame: Bool { source == target }
    }

    /// How many documents were copied, earlier runs included.
    package var copied = 0
    /// Why documents of the source could not be read and so were not copied, by their paths.
    package var unreadable: [String: String] = [:]
    /// Whether times and revisions are those of the source.
    package var keepsTimes = false
    /// The comparisons, by the scopes' names.
    package var comparisons: [Comparison] = []

    /// Whether both sides have the same documents, and all could be read.
    package var isVerified: Bool { unreadable.isEmpty && comparisons.allSatisfy(\.isSame) }
}
