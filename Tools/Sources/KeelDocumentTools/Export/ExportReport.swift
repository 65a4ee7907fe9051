/// What an export wrote.
package struct ExportReport: Hashable, Sendable {
    /// Whether what was written is the state of the store at one point in time.
    package enum Consistency: String, Hashable, Sendable {
        /// It is: either nothing changed while it was read, or the changes were worked in.
        case snapshot
        /// Documents changed while it was read, and some may be as before and some as after.
        case mixed
        /// The store keeps no change log that could tell.
        case unknown
    }

    /// How many documents were written.
    package var documents = 0
    /// How many documents changed while they were read.
    package var changed = 0
    /// Whether it is one state of the store.
    package var consistency = Consistency.unknown
}
