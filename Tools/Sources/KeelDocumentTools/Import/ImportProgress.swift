/// How far an import has come.
package struct ImportProgress: Hashable, Sendable {
    /// How many documents the store has acknowledged, earlier runs of a resumed import included.
    package var imported = 0
    /// How many elements were bad.
    package var bad = 0
    /// How much of the file is done, in bytes.
    package var bytes = 0
    /// The size of the file.
    package var size = 0
    /// How many documents an earlier run had stored already.
    package var resumedFrom = 0
    /// The number of the last element that is done.
    package var number = 0
}

/// An element that could not be imported.
package struct BadElement: Hashable, Sendable {
    /// Its line, or its position in the array, counted from 1.
    package let number: Int
    /// Why, in one sentence.
    package let reason: String
}
