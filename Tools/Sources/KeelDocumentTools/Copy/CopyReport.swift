internal import KeelStorage

/// The result of a copy and of the comparison that follows it.
package struct CopyReport: Sendable {
    /// The documents of a scope in both stores.
    package struct Comparison: Hashable, Sendable {
        /// The collection or collection group.
        package let scope: DocumentScope
        /// The documents of the source.
        package let source: ScopeDigest
        /// The documents of the target.
        package let target: ScopeDigest

        /// Whether both stores have the same documents.
        package var isSame: Bool { source == target }
    }

    /// The number of copied documents, including those of earlier runs.
    package var copied = 0
    /// The reasons why documents of the source could not be read and were not copied, by path.
    package var unreadable: [String: String] = [:]
    /// Whether the target keeps the times and revisions of the source.
    package var keepsTimes = false
    /// The comparisons, sorted by the names of the scopes.
    package var comparisons: [Comparison] = []

    /// Whether both stores have the same documents, and all of them could be read.
    package var isVerified: Bool { unreadable.isEmpty && comparisons.allSatisfy(\.isSame) }
}
